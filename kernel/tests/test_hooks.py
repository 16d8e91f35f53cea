from __future__ import annotations

import pytest

from rlk.errors import BrokenPlugin, UnknownName
from rlk.hookspecs import Specs, hookimpl, hookspec, is_lifecycle, lifecycle
from rlk.registry.hooks import LIFECYCLE, TAKES, Hooks
from rlk.registry.implementations import HOOKS


class Answers:
    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def rlk_check_plan(self, plan):
        return self.answer


def test_all_answers_are_joined_in_the_order_of_activation():
    hooks = Hooks()
    for name, answer in (("a", "1"), ("b", ["2", "3"]), ("c", None), ("d", "4")):
        hooks.activate(Answers(answer), name)
    assert hooks.all("rlk_check_plan", plan=None) == ["1", "2", "3", "4"]
    named = [("a", "1"), ("b", "2"), ("b", "3"), ("d", "4")]
    assert hooks.answers("rlk_check_plan", plan=None) == named


def test_a_misspelt_hook_is_refused_with_whose_it_is():
    class Misspells:
        @hookimpl
        def rlk_confgure(self, spec):
            pass

    hooks = Hooks()
    with pytest.raises(BrokenPlugin, match=r"plugin 'mine' \(rlk-mine 0\.1\).*rlk_confgure"):
        hooks.activate(Misspells(), "mine", "rlk-mine 0.1")
    assert not hooks.active()


def test_an_object_that_is_the_value_of_a_setting_is_said_to_belong_there():
    class Noise:
        def as_setting(self):
            return "some-noise:sigma=0.1"

    with pytest.raises(BrokenPlugin, match=r"value of a setting.* action_noise=Noise\("):
        Hooks().activate(Noise(), "mine")


def test_an_argument_that_a_hook_has_not_is_refused():
    class WantsMore:
        @hookimpl
        def rlk_configure(self, spec, weather):
            pass

    hooks = Hooks()
    said = r"WantsMore\.rlk_configure takes 'weather', and is only passed spec\.$"
    with pytest.raises(BrokenPlugin, match=said):
        hooks.activate(WantsMore(), "mine")


def test_one_name_is_activated_once():
    hooks = Hooks()
    hooks.activate(Answers("1"), "mine")
    with pytest.raises(
        BrokenPlugin, match=r"'mine'.* has the name of another one.*of the class Answers"
    ):
        hooks.activate(Answers("2"), "mine")
    assert hooks.all("rlk_check_plan", plan=None) == ["1"]


def test_after_a_refusal_others_can_still_be_activated_and_answer():
    class Misspells:
        @hookimpl
        def rlk_confgure(self, spec):
            pass

    hooks = Hooks()
    with pytest.raises(BrokenPlugin):
        hooks.activate(Misspells(), "mine")
    hooks.activate(Answers("1"), "mine")
    assert hooks.all("rlk_check_plan", plan=None) == ["1"]


def test_two_managers_share_nothing():
    one, two = Hooks(), Hooks()
    one.activate(Answers("1"), "mine")
    assert two.all("rlk_check_plan", plan=None) == []


# ---- listeners -----------------------------------------------------------------------------------


def test_listeners_are_called_with_the_arguments_that_they_name():
    heard = []

    class Listens:
        @hookimpl
        def rlk_step(self, step):
            heard.append(("step", step))

    class ListensToNothing:
        @hookimpl
        def rlk_step(self):
            heard.append("called")
            return False

    class ListensToAll:
        @hookimpl
        def rlk_step(self, run, step):
            heard.append((run, step))

    hooks = Hooks()
    for plugin in (Listens(), ListensToNothing(), ListensToAll()):
        hooks.activate(plugin, type(plugin).__name__)
    answers = [listener(run="run", step=3) for _, listener in hooks.listeners("rlk_step")]
    assert heard == [("step", 3), "called", ("run", 3)]
    assert answers == [None, False, None]


def test_nobody_listens_unless_somebody_does():
    hooks = Hooks()
    hooks.activate(Answers("1"), "mine")
    assert hooks.listeners("rlk_step") == []


def test_a_hook_that_does_not_exist_cannot_be_asked():
    with pytest.raises(UnknownName, match=r"rlk_stpe.*rlk_step"):
        Hooks().listeners("rlk_stpe")


def test_a_module_may_be_a_plugin():
    import types

    module = types.ModuleType("my_plugin")

    @hookimpl
    def rlk_update_end(run):
        return run

    module.rlk_update_end = rlk_update_end
    hooks = Hooks()
    hooks.activate(module, "mine")
    assert [listener(run=5) for _, listener in hooks.listeners("rlk_update_end")] == [5]


def test_who_implements_a_hook_is_known_in_the_order_of_the_calls():
    class First(Answers):
        @hookimpl(tryfirst=True)
        def rlk_check_plan(self):
            return None

    hooks = Hooks()
    for name, plugin in (("a", Answers(None)), ("first", First(None))):
        hooks.activate(plugin, name)
    assert hooks.implementers("rlk_check_plan") == ["first", "a"]
    assert hooks.implementers("rlk_take_over") == []


def test_one_plugin_is_told_something_and_no_other():
    told = []

    class Remembers:
        def __init__(self, name):
            self.name = name

        @hookimpl
        def rlk_load(self, state):
            told.append((self.name, state))

    hooks = Hooks()
    hooks.activate(Remembers("a"), "a")
    hooks.activate(Remembers("b"), "b")
    dict(hooks.listeners("rlk_load"))["b"](run=None, state=7)
    assert told == [("b", 7)]


def test_listeners_keep_to_tryfirst_and_trylast():
    heard = []

    def listener(word, **marks):
        class Listens:
            @hookimpl(**marks)
            def rlk_training_start(self, run):
                heard.append(word)

        return Listens()

    hooks = Hooks()
    for word, marks in (
        ("last", {"trylast": True}),
        ("a", {}),
        ("b", {}),
        ("first", {"tryfirst": True}),
    ):
        hooks.activate(listener(word, **marks), word)
    for _, listen in hooks.listeners("rlk_training_start"):
        listen(run=None)
    assert heard == ["first", "a", "b", "last"]


def test_a_plugin_is_had_by_its_name():
    hooks, plugin = Hooks(), Answers("1")
    hooks.activate(plugin, "a")
    assert hooks.get("a") is plugin
    assert hooks.get("b") is None


# ---- which hooks there are -----------------------------------------------------------------------


def test_the_hooks_of_a_runs_life_are_those_that_are_marked():
    assert set(LIFECYCLE) == {
        "rlk_training_start",
        "rlk_rollout_start",
        "rlk_step",
        "rlk_rollout_end",
        "rlk_update_end",
        "rlk_prepare_evaluation",
        "rlk_evaluation_end",
        "rlk_log",
        "rlk_write_row",
        "rlk_should_stop",
        "rlk_training_end",
    }
    assert set(LIFECYCLE) < set(HOOKS)


def test_of_a_hook_that_takes_one_answer_the_mark_says_so():
    assert {name for name in HOOKS if TAKES[name] == "first"} == {"rlk_take_over"}
    making = {name for name in HOOKS if name.startswith("rlk_make_")}
    one = {"rlk_policy_space", "rlk_settle_plan", *making}
    assert {name for name in HOOKS if TAKES[name] == "one"} == one


def test_a_mark_makes_a_hook_one_of_a_runs_life_wherever_it_stands():
    @lifecycle
    def rlk_marked(run): ...

    @hookspec
    def rlk_unmarked(run): ...

    assert is_lifecycle(rlk_marked) and not is_lifecycle(rlk_unmarked)


def test_every_hook_says_in_its_docstring_when_it_is_called():
    assert len(HOOKS) > 20
    assert [name for name in HOOKS if not vars(Specs)[name].__doc__] == []


class NoSelf:
    @hookimpl
    def rlk_wrap_update():
        pass


class ByKeyword:
    @hookimpl
    def rlk_wrap_loss(self, *, run, group):
        pass


class WithDefault:
    @hookimpl
    def rlk_wrap_loss(self, run=None):
        pass


class Yields:
    @hookimpl
    def rlk_wrap_update(self):
        yield


class WrapsAsPluggyDoes:
    @hookimpl(wrapper=True)
    def rlk_policy_space(self):
        return (yield)


class Waits:
    @hookimpl
    async def rlk_wrap_update(self):
        pass


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (Yields, r"Yields\.rlk_wrap_update has a yield or is async"),
        (WrapsAsPluggyDoes, r"WrapsAsPluggyDoes\.rlk_policy_space has a yield or is async"),
        (Waits, r"Waits\.rlk_wrap_update has a yield or is async"),
        (NoSelf, r"NoSelf\.rlk_wrap_update takes no self: write def rlk_wrap_update\(self, run\)"),
        (ByKeyword, r"ByKeyword\.rlk_wrap_loss takes 'run' by keyword alone: leave out the \*"),
        (WithDefault, r"WithDefault\.rlk_wrap_loss has a default for 'run': leave it out"),
    ],
)
def test_arguments_that_would_never_come_are_refused(plugin, said):
    hooks = Hooks()
    with pytest.raises(BrokenPlugin, match=rf"^plugin 'mine' \(this program\) is broken: {said}"):
        hooks.activate(plugin(), "mine")
    assert hooks.get("mine") is None


def test_the_second_object_of_a_class_is_refused_for_what_only_it_has():
    def rlk_wrap_loss(run, group):
        pass

    hooks = Hooks()
    hooks.activate(Answers("1"), "first")
    second = Answers("2")
    second.rlk_wrap_loss = rlk_wrap_loss
    with pytest.raises(BrokenPlugin, match=r"Answers\.rlk_wrap_loss is not marked as a hook"):
        hooks.activate(second, "second")
    assert hooks.get("second") is None
