"""Hooks of which a run takes one answer."""

from __future__ import annotations

import pytest
from gymnasium.spaces import Discrete

from rlk.errors import BrokenPlugin, PlanError
from rlk.hookspecs import hookimpl
from rlk.registry.hooks import Hooks
from rlk_testing.stand_ins import StandInStorage


def making(answer, **marks):
    class Makes:
        @hookimpl(**marks)
        def rlk_policy_space(self, plan):
            return answer

    return Makes()


def asked(*plugins):
    """The answer of plugins, called a, b, …, that are asked for a space."""
    hooks = Hooks()
    for name, plugin in zip("abcd", plugins, strict=False):
        hooks.activate(plugin, name, f"{name}-lib 1.0")
    return hooks.only("rlk_policy_space", plan=None)


ONE, OTHER = Discrete(1), Discrete(2)


def test_one_of_several_plugins_may_answer():
    assert asked() is None and asked(making(None), making(None)) is None
    assert asked(making(None), making(ONE), making(None)) is ONE


def test_two_plugins_that_answer_are_refused_with_what_to_type():
    said = (
        r"plugin 'a' \(a-lib 1\.0\) and plugin 'c' \(c-lib 1\.0\) each answer rlk_policy_space, "
        r"and a run takes one answer\. Without 'a': --plugin no:a\. Without 'c': --plugin no:c\.$"
    )
    with pytest.raises(PlanError, match=said):
        asked(making(ONE), making(None), making(OTHER))


class Opened(Discrete):
    """An answer with something to close, such as the workers of a vector environment."""

    closes = 0

    def close(self):
        self.closes += 1


class Raises:
    @hookimpl
    def rlk_policy_space(self, plan):
        raise ArithmeticError


@pytest.mark.parametrize(
    ("other", "error"),
    [
        (making(ONE), PlanError),
        (Raises(), ArithmeticError),
        (making("no space"), BrokenPlugin),
    ],
)
def test_an_answer_that_is_not_taken_is_closed(other, error):
    opened = Opened(3)
    assert asked(making(None), making(opened)) is opened and opened.closes == 0
    with pytest.raises(error):
        asked(making(opened), other)
    assert opened.closes == 1


@pytest.mark.parametrize("marks", [{"tryfirst": True}, {"trylast": True}])
def test_two_plugins_with_the_same_mark_are_refused_too(marks):
    with pytest.raises(PlanError, match="each answer"):
        asked(making(ONE, **marks), making(OTHER, **marks))


def test_where_an_order_is_meant_the_earlier_answer_counts():
    assert asked(making(ONE), making(OTHER, tryfirst=True)) is OTHER
    assert asked(making(ONE, trylast=True), making(OTHER)) is OTHER
    assert asked(making(ONE, trylast=True), making(None, tryfirst=True), making(None)) is ONE


def test_who_is_asked_later_is_not_asked_once_there_is_an_answer():
    class Fails:
        @hookimpl(trylast=True)
        def rlk_policy_space(self):
            raise AssertionError("it is asked")

    assert asked(Fails(), making(ONE)) is ONE
    with pytest.raises(AssertionError) as caught:
        asked(Fails(), making(None))
    assert caught.value.__notes__ == ["plugin 'a' raised this, in rlk_policy_space"]


def test_a_wrong_answer_names_the_plugin_that_gave_it():
    with pytest.raises(BrokenPlugin, match="plugin 'b' answered rlk_policy_space with 'round'"):
        asked(making(None), making("round"))


class Stores:
    @hookimpl
    def rlk_make_storage(self):
        return StandInStorage()


def test_a_run_of_two_plugins_that_make_its_storage_is_refused(make, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.extensions.register("stores", Stores)
    with pytest.raises(PlanError) as refused:
        make("stores", Stores())
    assert str(refused.value) == (
        "plugin 'stores' (this program) and plugin 'Stores-0' (passed as object) each answer "
        "rlk_make_storage, and a run takes one answer. Without 'stores': --plugin no:stores. "
        "Without 'Stores-0': plugins=[…] without it."
    )
    assert type(make("stores").run.storage) is StandInStorage


def test_of_a_hook_that_takes_the_first_answer_those_after_it_are_not_asked():
    class TakesOver:
        def __init__(self, answer):
            self.answer = answer

        @hookimpl
        def rlk_take_over(self, plan):
            if self.answer == "is not asked":
                raise AssertionError(self.answer)
            return self.answer

    hooks = Hooks()
    assert hooks.only("rlk_take_over", plan=None) is None
    for answer in (None, 0, "is not asked"):
        hooks.activate(TakesOver(answer), str(answer))
    assert hooks.only("rlk_take_over", plan=None) == 0


def test_a_hook_whose_answers_are_all_taken_is_not_asked_for_one():
    with pytest.raises(KeyError, match="all"):
        Hooks().only("rlk_wrap_update", run=None)
