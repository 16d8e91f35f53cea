from __future__ import annotations

import re
from functools import partial

import attrs
import gymnasium as gym
import pytest

from rlk.component import Component
from rlk.errors import PlanError, UnknownName
from rlk.registry.external import (
    PASSED,
    as_component,
    external_entry,
    find_entry,
    is_code_place,
    passed_entry,
    without_number,
)
from rlk.registry.guess import guessed_kind


class Thing:
    config = None


@pytest.fixture
def registries(rlk_empty_kernel):
    return rlk_empty_kernel.registries


def test_a_place_has_a_colon_or_is_a_file():
    assert (
        is_code_place("./mine.py")
        and is_code_place("module:Object")
        and not is_code_place("replay")
    )


@pytest.mark.parametrize(("kind", "meant"), [("extension", "extensions"), ("policy", "policies")])
def test_a_misspelt_kind_is_refused_with_the_one_that_is_meant(registries, kind, meant):
    component = Component(name="mine", factory=Thing, kind=kind)
    said = f"unknown kind '{kind}' in plugin 'mine'. Did you mean '{meant}'?"
    for entry in (
        lambda: passed_entry(component, ()),
        lambda: external_entry(component, "policies", registries),
    ):
        with pytest.raises(UnknownName, match=re.escape(said)):
            entry()


def test_a_class_that_is_passed_goes_where_it_is_said(registries):
    entry = external_entry(Thing, "policies", registries)
    assert (entry.kind, entry.name, entry.dist) == ("policies", "Thing", "passed as object")
    assert entry.component().factory is Thing


def test_a_class_shows_the_kind_that_its_component_does_not_say():
    class Inside(gym.Wrapper):
        component = Component(name="mine", factory=Thing)

    entry = passed_entry(Inside, ())
    assert (entry.kind, entry.name, entry.component().factory) == ("wrappers", "mine", Thing)
    with pytest.raises(PlanError, match=r"'mine' .* does not say its kind"):
        passed_entry(Inside.component, ())


def test_a_component_says_itself_where_it_goes(registries):
    component = Component(name="mine", factory=Thing, kind="loggers")
    assert external_entry(component, "policies", registries).kind == "loggers"
    assert external_entry(component, "policies", registries).component() is component


def test_what_has_a_component_is_described_by_it():
    class Has:
        component = Component(name="mine", factory=Thing)

    assert as_component(Has) is Has.component


def test_a_class_says_that_it_is_recurrent():
    class Remembers:
        recurrent = True

    class Asks:
        @property
        def recurrent(self):
            return True

    assert as_component(Remembers).recurrent and as_component(partial(Remembers)).recurrent
    assert not as_component(Thing).recurrent and not as_component(Asks).recurrent


def methods(*names, bases=()):
    return type("Has_Them", bases, dict.fromkeys(names, lambda self: None))


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (methods("sample", "log_prob"), "distributions"),
        (methods("open", "add", "state_dict"), "storages"),
        (methods("open", "added", "choose"), "storages"),
        (methods("rlk_update_end"), "extensions"),
        (methods("step", "reset", "rlk_save"), "extensions"),
        (methods("step", "reset"), "wrappers"),
        (methods("reward", bases=(gym.RewardWrapper,)), "wrappers"),
        (partial(methods("step", "reset"), 3), "wrappers"),
        (methods("step", "reset", bases=(gym.Env,)), "environments"),
        (methods("other"), None),
    ],
)
def test_the_kind_of_a_class_is_guessed_from_its_methods(found, kind):
    assert guessed_kind(found) == kind


def test_a_class_that_is_passed_as_a_plugin_is_what_its_methods_show():
    for found in (methods("step", "reset"), partial(methods("step", "reset"), 3)):
        entry = passed_entry(found, ())
        assert (entry.kind, entry.name, entry.dist) == ("wrappers", "Has-Them", PASSED)
        assert entry.component().factory is found


def test_hooks_have_the_name_of_their_class_and_a_number_however_they_are_passed():
    made = methods("rlk_update_end")
    for plugin in (made, partial(made), made()):
        entry = passed_entry(plugin, ("Has-Them-0", "Mine-1"))
        assert (entry.kind, entry.name) == ("extensions", "Has-Them-1")
        assert without_number(entry.name) == as_component(made).name
        factory = entry.component().factory
        assert (factory() if isinstance(plugin, made) else factory) is plugin


def test_something_that_cannot_be_called_is_refused(registries):
    with pytest.raises(PlanError, match=r"no rlk.Component, class or function"):
        external_entry(3, "policies", registries)


@attrs.frozen(kw_only=True)
class Every:
    every: int = 1


@pytest.mark.parametrize("typed", ["watch:every", "watch:every,episodes=3"])
def test_a_setting_without_a_value_is_not_taken_for_a_place(registries, typed):
    registries.callbacks.register("watch", Thing, config=Every)
    message = r"the setting 'every' needs a value: watch:every=VALUE"
    with pytest.raises(PlanError, match=message):
        find_entry(typed, None, registries)


def test_the_name_of_a_component_that_ends_in_a_colon_is_not_taken_for_a_place(registries):
    registries.callbacks.register("watch", Thing, config=Every)
    with pytest.raises(PlanError, match=r"'watch:' ends in a colon\. Type watch:KEY=VALUE, or wa"):
        find_entry("watch:", None, registries)


def test_a_place_in_a_module_with_the_name_of_a_component_is_found(registries):
    registries.callbacks.register("watch", Thing, config=Every)
    registries.finders.register("shelf", lambda place, kind: Component(name="mine", factory=Thing))
    assert find_entry("watch:Every", "callbacks", registries).dist == "watch:Every"


def test_finders_are_asked_for_a_place_with_the_kind_that_is_wanted(registries):
    asked = []

    def nothing(place, kind):
        asked.append((place, kind))

    def shelf(place, kind):
        return Component(name="mine", factory=Thing, kind=kind or "extensions")

    registries.finders.register("nothing", nothing)
    registries.finders.register("shelf", shelf)
    entry = external_entry("./mine.py:Mine", "policies", registries)
    assert (entry.kind, entry.name, entry.dist) == ("policies", "mine", "./mine.py:Mine")
    assert external_entry("mine:Mine", None, registries).kind == "extensions"
    assert asked == [("./mine.py:Mine", "policies"), ("mine:Mine", None)]


def test_a_component_that_is_found_and_says_no_kind_is_refused_unless_its_slot_does(registries):
    registries.finders.register("shelf", lambda place, kind: Component(name="m", factory=Thing))
    with pytest.raises(PlanError, match=r"plugin 'm' \(shelf:m\) does not say its kind\. Write"):
        external_entry("shelf:m", None, registries)
    assert external_entry("shelf:m", "policies", registries).kind == "policies"


def test_finders_that_run_code_are_asked_after_all_others(registries):
    def gives(name):
        return lambda place, kind: Component(name=name, factory=Thing, kind="wrappers")

    registries.finders.register("any-module", gives("imported"), runs_code=True)
    registries.finders.register("shelf", gives("on-the-shelf"))
    assert external_entry("shelf:mine", None, registries).name == "on-the-shelf"


def test_a_place_that_nobody_looks_at_says_what_kind_of_plugin_is_missing(registries):
    message = r"unknown plugin './mine.py'\. Asked finders: none; a plugin of that kind is missing"
    with pytest.raises(PlanError, match=message):
        external_entry("./mine.py", None, registries)
    registries.finders.register("shelf", lambda place, kind: None, summary="shelf:NAME")
    with pytest.raises(PlanError, match=r"Asked finders: shelf \(shelf:NAME\)"):
        external_entry("./mine.py", None, registries)


class _Habit:
    """Hooks of a class whose name begins with an underscore."""


class Größe:
    """A name that not every shell can type."""


def test_a_class_with_a_name_that_begins_with_an_underscore_can_be_passed():
    assert passed_entry(_Habit(), ()).name == "Habit-0"
    assert as_component(_Habit).name == "Habit"


@pytest.mark.parametrize("pass_it", [as_component, lambda kind: passed_entry(kind(), ())])
def test_a_name_that_cannot_be_typed_is_refused_with_what_to_write(pass_it):
    with pytest.raises(PlanError, match=r"no name that can be typed.*rlk\.Component\(name="):
        pass_it(Größe)
