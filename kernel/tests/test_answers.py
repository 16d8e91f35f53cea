"""A plugin that answers a hook with what it does not take is named, with what it is to return."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from rlk.errors import BrokenPlugin
from rlk.hookspecs import hookimpl
from rlk.registry.answers import OF_HOOKS, OF_METHODS, check_answer, check_given
from rlk.registry.hooks import LIFECYCLE, Hooks
from rlk.registry.implementations import HOOKS


def test_every_hook_that_takes_answers_says_which():
    unanswered = {"rlk_built", "rlk_load", "rlk_load_with_model", *LIFECYCLE} - {"rlk_should_stop"}
    assert set(OF_HOOKS) == set(HOOKS) - unanswered


@pytest.mark.parametrize("hook", OF_HOOKS)
def test_what_no_hook_takes_is_refused_with_what_it_is_to_be(hook):
    with pytest.raises(BrokenPlugin) as caught:
        check_answer(hook, object(), "mine")
    assert str(caught.value).startswith(f"plugin 'mine' answered {hook} with <object object at")
    assert str(caught.value).endswith(f"It must return {OF_HOOKS[hook].words}, or None.")


@pytest.mark.parametrize("method", OF_METHODS)
def test_what_a_run_cannot_be_built_of_is_refused_with_whose_method_gave_it(method):
    with pytest.raises(BrokenPlugin) as caught:
        check_given("algorithm 'mine' (acme 1.0)", method, None)
    assert str(caught.value) == (
        f"algorithm 'mine' (acme 1.0): {method}() returned None. It must return "
        f"{OF_METHODS[method].words}."
    )


def test_a_class_in_the_place_of_one_of_it_is_refused():
    from rlk_testing.stand_ins import StandInStorage

    check_answer("rlk_make_storage", StandInStorage(), "mine")
    with pytest.raises(BrokenPlugin, match=r"Make one of the class: StandInStorage\(…\)\.$"):
        check_answer("rlk_make_storage", StandInStorage, "mine")


def test_true_is_no_exit_code_and_no_reason_to_stop():
    for hook in ("rlk_take_over", "rlk_should_stop"):
        with pytest.raises(BrokenPlugin, match="with True"):
            check_answer(hook, True, "mine")


def test_a_plan_is_not_forbidden_by_an_empty_sentence():
    with pytest.raises(BrokenPlugin, match=r"plugin 'mine' answered rlk_check_plan with ''\."):
        check_answer("rlk_check_plan", "", "mine")


def test_a_state_that_no_file_holds_is_refused_before_a_serializer_meets_it():
    check_answer("rlk_save", {"seen": {"1": 2}}, "mine")
    check_answer("rlk_save", {"seen": [torch.ones(1), (None, {"a": "b"})]}, "mine")
    check_answer("rlk_save", {"seen": np.ones(2, np.int8)}, "mine")
    dates, texts = np.array(["2026-11-27"], "datetime64[D]"), np.array(["a"])
    wrong = ({1: 2}, {"seen": {1: 2}}, {"seen": [{3}]}, {"seen": object()})
    for state in (*wrong, {"seen": dates}, {"seen": texts}, {"seen": np.array([None])}):
        with pytest.raises(BrokenPlugin, match="a dict, by texts"):
            check_answer("rlk_save", state, "mine")


def test_a_module_that_has_what_it_takes_needs_no_base_class():
    check_answer("rlk_make_policy", nn.Linear(1, 1), "mine")

    class Sum:
        def mean(self, tensor): ...
        def agree(self, value): ...
        def gather(self, value): ...

    check_answer("rlk_make_communicator", Sum(), "mine")


def test_of_several_plugins_the_one_with_the_wrong_answer_is_named():
    class Takes:
        def __init__(self, answer):
            self.answer = answer

        @hookimpl
        def rlk_take_over(self, plan):
            return self.answer

    hooks = Hooks()
    hooks.activate(Takes(None), "declines")
    hooks.activate(Takes("later"), "answers")
    hooks.activate(Takes("never"), "is not asked")
    with pytest.raises(
        BrokenPlugin, match=r"^plugin 'answers' answered rlk_take_over with 'later'"
    ):
        hooks.only("rlk_take_over", plan=None)


def test_a_member_of_a_list_is_looked_at_too():
    class Forbids:
        @hookimpl
        def rlk_check_plan(self, plan):
            return ["too late", False]

    hooks = Hooks()
    hooks.activate(Forbids(), "forbids")
    with pytest.raises(BrokenPlugin, match="'forbids' answered rlk_check_plan with False"):
        hooks.all("rlk_check_plan", plan=None)
