"""The factories of a plan are imported, and looked at, before anything is built."""

from __future__ import annotations

from abc import ABC, abstractmethod

import attrs
import pytest
import torch

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin
from rlk.making import make
from rlk.planning.choice import Choice
from rlk.registry.discovery import Point
from rlk.registry.entry import Entry
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import StandIn

MATCH = BY_ACTION_SPACE["Discrete"]


class Half:
    """An optimiser that lacks two methods."""

    def step(self, objective): ...


class Inherits(Half):
    state_dict = load_state_dict = None


class Sets:
    def __init__(self):
        self.step = self.state_dict = self.load_state_dict = print


class InheritsWhatIsSet(Sets):
    def __init__(self):
        super().__init__()


@attrs.define
class Fields:
    step: object
    state_dict: object
    load_state_dict: object


def optimiser(factory, **fields):
    component = Component(name="made", factory=factory, **fields)
    return Entry("optimisers", "made", "rlk-made", "0.1", lambda: component)


@pytest.mark.parametrize("factory", [Inherits, Sets, InheritsWhatIsSet, Fields, lambda: Half()])
def test_what_has_the_methods_of_its_kind_or_cannot_be_told_is_let_through(factory):
    assert optimiser(factory).load() is factory


@pytest.mark.parametrize("forgotten", ["state_dict", "load_state_dict"])
def test_an_algorithm_that_cannot_both_save_and_restore_its_state_is_refused(forgotten):
    def copies_a_target(self, config, run):
        self.target.state_dict()
        self.target.load_state_dict(run.policy.state_dict())

    state = {name: lambda self: {} for name in ("state_dict", "load_state_dict")}
    del state[forgotten]
    factory = type("Forgets", (StandIn,), {**state, "__init__": copies_a_target})
    component = Component(name="made", factory=factory)
    entry = Entry("algorithms", "made", "rlk-made", "0.1", lambda: component)
    with pytest.raises(
        BrokenPlugin, match=r"one of state_dict and load_state_dict\. Write both, or"
    ):
        entry.load()


def test_an_algorithm_without_a_state_may_use_the_states_of_others():
    def copies(self, config, run):
        self.held = run.policy.state_dict()

    factory = type("Copies", (StandIn,), {"__init__": copies})
    component = Component(name="made", factory=factory)
    assert Entry("algorithms", "made", "rlk-made", "0.1", lambda: component).load() is factory


@pytest.mark.parametrize(
    ("factory", "cause"),
    [
        (Half, "lacks load_state_dict, state_dict, which all optimisers must have"),
        ("rlk_nowhere_at_all:Made", "ModuleNotFoundError: No module named 'rlk_nowhere_at_all'"),
        ("rlk.errors:Made", "AttributeError: module 'rlk.errors' has no attribute 'Made'"),
        ("rlk_raises_on_import:Made", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_used_says_whose_it_is_and_why(tmp_path, monkeypatch, factory, cause):
    (tmp_path / "rlk_raises_on_import.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BrokenPlugin) as caught:
        optimiser(factory).load()
    assert str(caught.value).startswith("optimiser 'made' (rlk-made 0.1) is broken: ")
    assert cause in str(caught.value)


@pytest.mark.parametrize("part", ["component", "factory", "hooks"])
def test_where_the_kernel_is_too_old_the_error_says_so_and_not_that_the_plugin_is_at_fault(
    tmp_path, monkeypatch, part
):
    info = tmp_path / "rlk_made-0.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: rlk-made\nVersion: 0.2\nRequires-Dist: rlk-kernel>=99\n")
    (tmp_path / "rlk_made_for_another.py").write_text("from rlk.component import NotYet\n")
    monkeypatch.syspath_prepend(tmp_path)
    imported = "rlk_made_for_another:NotYet"
    by = {"factory": Inherits, **({part: imported} if part != "component" else {})}
    entry = optimiser(**by)
    with pytest.raises(BrokenPlugin) as caught:
        if part == "component":
            load = Point("optimisers", "made", imported, "rlk-made", "0.2").load
            Entry("optimisers", "made", "rlk-made", "0.2", load).component()
        elif part == "factory":
            entry.load()
        else:
            entry.imported(entry.component().hooks)
    why, _, advice = str(caught.value).partition(". rlk-kernel is ")
    assert "is broken: ImportError: cannot import name 'NotYet'" in why
    assert advice.endswith(", not >=99. Type: pip install -U rlk-made.")


def test_damaged_metadata_does_not_hide_the_cause(tmp_path, monkeypatch):
    info = tmp_path / "rlk_made-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: rlk-made\nVersion: 0.1\nRequires-Dist: >>>\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BrokenPlugin, match=r"No module named 'rlk_nowhere_at_all'\.$"):
        optimiser("rlk_nowhere_at_all:Made").load()


def test_what_decorates_has_the_methods_of_its_stages():
    names = ("open", "added", "feedback", "state_dict", "load_state_dict", "choose")
    made = type("Made", (), dict.fromkeys(names, print))
    for stages, sound in ((("choose",), True), (("choose", "fold"), False)):
        component = Component(name="made", factory=made, stages=stages)
        entry = Entry("storages", "made", "rlk-made", "0.1", lambda one=component: one)
        if sound:
            entry.load()
        else:
            with pytest.raises(BrokenPlugin, match="lacks fold"):
                entry.load()


def test_a_decorator_that_does_not_name_its_stages_says_how_to():
    names = ("open", "added", "feedback", "state_dict", "load_state_dict", "choose", "fold")
    component = Component(name="made", factory=type("Made", (), dict.fromkeys(names, print)))
    said = r"which all storages must have\. A decorator .*rlk\.Component\(…, stages=\('choose', 'fo"
    with pytest.raises(BrokenPlugin, match=said):
        Entry("storages", "made", "rlk-made", "0.1", lambda: component).load()


class Shape(ABC):
    """What some kind of components agrees on, without the kernel."""

    @abstractmethod
    def area(self): ...

    @abstractmethod
    def edges(self): ...


class Round(Shape):
    def area(self): ...


def test_a_class_that_leaves_out_what_its_own_base_asks_for_is_broken():
    component = Component(name="round", factory=Round)
    entry = Entry("distributions", "round", "rlk-made", "0.1", lambda: component)
    with pytest.raises(BrokenPlugin, match=r"'round' \(rlk-made 0.1\) is broken: .* lacks edges,"):
        entry.load()
    Entry("distributions", "line", "", "", lambda: attrs.evolve(component, factory=Half)).load()


def test_planning_imports_no_factory_and_a_plan_loads_all_it_is_made_of(planning_kernel, plan):
    planning_kernel.registries.storages.register("absent", "rlk_nowhere_at_all:Made")
    made = plan(storage="absent")
    with pytest.raises(BrokenPlugin, match=r"storage 'absent' \(this program\) is broken"):
        made.load_factories()
    plan().load_factories()


def test_nothing_is_built_of_a_plan_with_something_broken(rlk_stand_in_kernel):
    built = []

    class Counts:
        @hookimpl
        def rlk_make_communicator(self, run):
            built.append(run)

    rlk_stand_in_kernel.registries.optimisers.register("half", Half)
    given = {"kernel": rlk_stand_in_kernel, "plugins": [Counts()], "optimiser": "half"}
    with pytest.raises(BrokenPlugin, match="lacks load_state_dict"):
        make("stand-in", **given)
    assert not built


def test_what_a_factory_raises_names_the_innermost_component():
    inner = Choice.of(optimiser(lambda divisor: 1 / divisor))
    outer = Choice.of(optimiser(lambda: inner.make(0)))
    with pytest.raises(ZeroDivisionError) as caught:
        outer.make()
    note = "optimiser 'made' (rlk-made 0.1) raised this, called with (int)"
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize("hook", ["rlk_wrap_loss", "rlk_make_optimiser"])
def test_what_a_hook_raises_while_the_algorithm_is_made_names_its_plugin(rlk_stand_in_kernel, hook):
    class Raises:
        @hookimpl
        def rlk_wrap_loss(self, group):
            assert hook != "rlk_wrap_loss"

        @hookimpl
        def rlk_make_optimiser(self, group):
            assert hook != "rlk_make_optimiser"

    with pytest.raises(AssertionError) as caught:
        make("stand-in", kernel=rlk_stand_in_kernel, plugins=[Raises()])
    assert caught.value.__notes__ == [f"plugin 'Raises-0' raised this, in {hook}"]


def test_a_network_in_place_of_a_policy_is_told_where_it_belongs():
    component = Component(name="net", factory=torch.nn.Identity)
    with pytest.raises(BrokenPlugin, match=r"lacks build.* A torch\.nn\.Module is a part of a pol"):
        Entry("policies", "net", "", "", lambda: component).load()


class Misspells:
    @hookimpl
    def rlk_updat_end(self, run): ...


def test_a_misspelt_hook_is_shown_the_nearest(planning_kernel, plan):
    planning_kernel.registries.callbacks.add(
        Entry(
            "callbacks",
            "off",
            "rlk-off",
            "0.2",
            lambda: Component(name="off", factory=Misspells),
        )
    )
    with pytest.raises(BrokenPlugin, match=r"'off' \(rlk-off 0\.2\).*mean 'rlk_update_end'"):
        plan(plugins=["off"])


def test_what_joins_unasked_and_is_broken_is_in_the_way_of_nobody(planning_kernel, plan, tmp_path):
    register = planning_kernel.registries.loggers.register
    register("absent", "rlk_nowhere_at_all:Made", autostart="run")
    planning_kernel.registries.callbacks.register("off", Misspells, autostart="run")
    made = plan(out=str(tmp_path))
    assert [choice.name for choice in (*made.loggers, *made.callbacks)] == ["writes"]
    made.load_factories()
    with pytest.raises(BrokenPlugin, match="No module named 'rlk_nowhere_at_all'"):
        plan(out=str(tmp_path), plugins=["absent"]).load_factories()


def test_a_factory_that_takes_other_arguments_is_named_with_those_that_it_is_given(
    rlk_stand_in_kernel,
):
    class WantsLess:
        def __init__(self):
            """An optimiser is made with its group."""

        step = state_dict = load_state_dict = None

    class Fails(WantsLess):
        def __init__(self, group):
            len(group)

    def made_with(optimiser):
        component = Component(name="mine", factory=optimiser)
        return make("stand-in", kernel=rlk_stand_in_kernel, env=MATCH, optimiser=component)

    with pytest.raises(BrokenPlugin, match=r"'mine' .* called with \(Group\): .*WantsLess\.__ini"):
        made_with(WantsLess)
    with pytest.raises(TypeError, match="has no len"):
        made_with(Fails)
