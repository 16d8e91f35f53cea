"""Mistakes with callbacks are refused at once, in words that say what to write."""

from __future__ import annotations

from typing import Any

import pytest

from rlk.errors import PlanError
from rlk_baselines import A2C
from rlk_baselines.common import callbacks, evaluation
from rlk_baselines.refusals import Refused
from rlk_sb3.common import callbacks as sb3
from rlk_sb3.common import evaluation as sb3_evaluation


class Going(callbacks.BaseCallback):
    def _on_step(self) -> bool:
        return True


class Uninitialised(callbacks.BaseCallback):
    def __init__(self) -> None:
        self.mine = 1

    def _on_step(self) -> bool:
        return True


def function(locals_: Any, globals_: Any) -> bool:
    return True


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_callback_whose_init_forgets_that_of_its_base_is_refused(counting, wrapped) -> None:
    callback = Uninitialised()
    model = A2C("MlpPolicy", counting())
    with pytest.raises(PlanError, match=r"Write super\(\).__init__\(verbose\) first in Uninit"):
        model.learn(10, callback=[callback] if wrapped else callback)


def test_a_class_instead_of_its_instance_is_refused(counting) -> None:
    with pytest.raises(PlanError, match=r"Write Going\(…\), an instance"):
        A2C("MlpPolicy", counting()).learn(10, callback=Going)


@pytest.mark.parametrize(
    "make",
    [
        lambda env, other: callbacks.EveryNTimesteps(10, other),
        lambda env, other: callbacks.EvalCallback(env, callback_on_new_best=other),
        lambda env, other: callbacks.CallbackList([Going(), other]),
        lambda env, other: sb3.EvalCallback(env, callback_after_eval=other),
    ],
)
@pytest.mark.parametrize(
    ("other", "instead"),
    [
        (function, r"ConvertCallback\(function\)"),
        ([Going()], r"CallbackList\(\[…\]\)"),
        (Going, r"Going\(…\)"),
        (3, "Derive a class from BaseCallback"),
    ],
)
def test_what_calls_a_callback_refuses_anything_else(counting, make, other, instead) -> None:
    with pytest.raises(PlanError, match=instead):
        make(counting(), other)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda env: callbacks.CheckpointCallback(0, "there"), "CheckpointCallback: save_freq"),
        (lambda env: sb3.CheckpointCallback(-1, "there"), "CheckpointCallback: save_freq"),
        (lambda env: callbacks.EveryNTimesteps(0, Going()), "EveryNTimesteps: n_steps"),
    ],
)
def test_numbers_of_steps_below_one_are_refused(counting, make, name) -> None:
    with pytest.raises(PlanError, match=f"{name}.* must be at least 1"):
        make(counting())


@pytest.mark.parametrize("number", [0, -1, 2.5, None])
@pytest.mark.parametrize(
    ("make", "whose"),
    [
        (lambda env, n: callbacks.EvalCallback(env, n_eval_episodes=n), "EvalCallback"),
        (lambda env, n: evaluation.evaluate_policy(None, env, n), "evaluate_policy"),
        (lambda env, n: sb3_evaluation.evaluate_policy(None, env, n), "evaluate_policy"),
    ],
)
def test_numbers_of_episodes_that_are_not_whole_or_below_one_are_refused(
    counting, make, whose, number
) -> None:
    told = f"^{whose}: n_eval_episodes must be a whole number of at least 1, got {number}"
    with pytest.raises(Refused, match=told):
        make(counting(), number)
