from __future__ import annotations

import math
from types import SimpleNamespace

import gymnasium as gym
import pytest
from torch import tensor

from rlk_categorical.distribution import Categorical
from rlk_on_policy.clipped_loss import clipped_loss

#: Two even actions: log pi = -log 2 for each, and an entropy of log 2.
EVEN = tensor([[0.0, 0.0], [0.0, 0.0]])
NOW = -math.log(2.0)
#: The ratios of the two transitions are 2 and 1.
BATCH = SimpleNamespace(action=tensor([0, 1]), log_prob=tensor([NOW - math.log(2.0), NOW]))


def found(**changes):
    arguments = {
        "clip_range": tensor(0.2),
        "value_loss": tensor(2.0),
        "approximate_kl": lambda new, old: (old - new).mean(),
        "vf_coef": 0.5,
        "ent_coef": 0.1,
    }
    value, advantage = tensor([[2.0], [0.0]]), tensor([1.0, 1.0])
    distribution = Categorical(gym.spaces.Discrete(2))
    return clipped_loss(distribution, EVEN, value, BATCH, advantage, **{**arguments, **changes})


def test_the_loss_is_the_weighted_sum_of_its_three_parts():
    loss = found()
    of_policy, of_value, entropy = -(1.2 + 1.0) / 2, 2.0, math.log(2.0)
    assert loss.metrics["policy_gradient_loss"].item() == pytest.approx(of_policy)
    assert loss.metrics["value_loss"].item() == pytest.approx(of_value)
    assert loss.metrics["entropy_loss"].item() == pytest.approx(-entropy)
    assert loss.value.item() == pytest.approx(of_policy + 0.5 * of_value - 0.1 * entropy)
    assert loss.metrics["loss"] is loss.value


def test_the_estimate_of_the_divergence_and_the_fraction_that_is_clipped_are_logged():
    metrics = found().metrics
    assert metrics["approx_kl"].item() == pytest.approx(-math.log(2.0) / 2)
    assert metrics["clip_fraction"].item() == 0.5


def test_second_order_optimisers_get_the_parameters_and_one_value_for_each_transition():
    loss = found()
    assert loss.distribution is EVEN
    assert loss.prediction.tolist() == [2.0, 0.0]
