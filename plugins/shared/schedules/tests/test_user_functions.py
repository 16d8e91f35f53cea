"""Functions of a user as schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError, RlkError
from rlk_schedules import as_schedule


@pytest.mark.parametrize("bad", [-1, None, "0.1", math.nan, math.inf, True, [0.1]])
def test_a_function_that_returns_no_value_of_a_schedule_is_named(bad):
    def rate(remaining):
        return 0.1 if remaining > 0.6 else bad

    with rlk.make("ppo2", n_steps=8, nminibatches=1, learning_rate=rate) as agent:
        with pytest.raises(
            RlkError, match=r"rate\(remaining\) returned .* 0.5 of the run remained"
        ):
            agent.learn(16)
        assert agent.num_timesteps == 8


@pytest.mark.parametrize("good", [0.25, np.float32(0.25), torch.tensor(0.25), 1, np.int64(0)])
def test_a_function_may_return_any_kind_of_number(good):
    assert as_schedule(lambda remaining: good)(1.0) == float(good)


@pytest.mark.parametrize("wrong", [lambda: 0.1, lambda step, total: 0.1])
def test_a_function_of_other_arguments_is_refused_while_planning(wrong):
    with pytest.raises(
        PlanError, match=r"learning_rate: the schedule <lambda>.* def schedule\(rem"
    ):
        rlk.make("ppo2", learning_rate=wrong)


def test_what_a_function_returns_becomes_a_float():
    assert type(as_schedule(lambda remaining: 1)(0.5)) is float
