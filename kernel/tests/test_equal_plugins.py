"""Plugins that compare equal, or cannot be compared, are told apart."""

from __future__ import annotations

import pytest

from rlk.errors import BrokenPlugin
from rlk.hookspecs import hookimpl
from rlk.registry.hooks import Hooks


class Equal:
    """Is equal to every other one, as dataclasses with equal fields are."""

    def __init__(self, problem):
        self.problem = problem

    @hookimpl
    def rlk_check_plan(self):
        return self.problem

    def __eq__(self, other):
        return True


class Incomparable(Equal):
    """Compares as objects with arrays do."""

    def __eq__(self, other):
        raise ValueError("the truth value of an array is ambiguous")


@pytest.mark.parametrize("cls", [Equal, Incomparable])
def test_plugins_that_are_equal_are_two_plugins(cls):
    hooks = Hooks()
    hooks.activate(cls("1"), "a")
    hooks.activate(cls("2"), "b")
    assert hooks.answers("rlk_check_plan", plan=None) == [("a", "1"), ("b", "2")]
    assert hooks.get("b").problem == "2"
    hooks.deactivate("a")
    assert hooks.answers("rlk_check_plan", plan=None) == [("b", "2")]


def test_one_object_is_activated_once():
    hooks, one = Hooks(), Equal("1")
    hooks.activate(one, "a")
    with pytest.raises(BrokenPlugin, match=r"'b' .* is active already, as 'a'\. Pass it once"):
        hooks.activate(one, "b")
