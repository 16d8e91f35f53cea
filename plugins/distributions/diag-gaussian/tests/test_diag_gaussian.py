from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk_diag_gaussian.config import DiagGaussianConfig
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_testing import DistributionContract

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class TestDiagGaussian(DistributionContract):
    component = "diag-gaussian"


@pytest.fixture
def two():
    low, high = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
    return DiagGaussian(gym.spaces.Box(low, high))


def parameters(mean, std):
    return torch.cat([tensor([mean]), torch.log(tensor([std]))], 1)


def test_log_prob_by_hand(two):
    found = two.log_prob(parameters([1.0, 0.0], [2.0, 0.5]), tensor([[3.0, 0.5]]))
    # Both are one standard deviation away.
    expected = -0.5 - math.log(2.0) - HALF_LOG_2PI - 0.5 - math.log(0.5) - HALF_LOG_2PI
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_log_prob_equals_that_of_torch(two):
    generator = torch.Generator().manual_seed(0)
    given, action = torch.randn(50, 4, generator=generator), torch.randn(50, 2, generator=generator)
    normal = torch.distributions.Normal(given[:, :2], given[:, 2:].exp())
    expected = normal.log_prob(action).sum(1)
    assert torch.allclose(two.log_prob(given, action), expected, atol=1e-4)


def test_entropy_by_hand(two):
    found = two.entropy(parameters([9.0, 9.0], [2.0, 0.5]))
    assert found.item() == pytest.approx(2 * (HALF_LOG_2PI + 0.5), abs=1e-5)  # log 2 + log 0.5 = 0


def test_divergence_by_hand(two):
    found = two.kl(parameters([0.0, 1.0], [1.0, 1.0]), parameters([1.0, 1.0], [2.0, 1.0]))
    # log 2 + (1 + 1) / (2 * 4) - 1/2 in the first, nothing in the second
    assert found.item() == pytest.approx(math.log(2.0) + 0.25 - 0.5, abs=1e-6)


def test_divergences_of_tiny_spreads(two):
    one = tensor([[0.0, 0.0, -60.0, -60.0]])
    assert two.kl(one, one).item() == 0.0
    found = two.kl(one + tensor([[0.0, 0.0, 1.0, 0.0]]), one)
    assert found.item() == pytest.approx(-1.0 + 0.5 * math.exp(2.0) - 0.5, abs=1e-4)


def test_a_sample_is_the_mean_and_the_noise_times_the_spread(two):
    found = two.sample(parameters([1.0, -1.0], [2.0, 0.5]), tensor([[0.5, -2.0]]))
    assert found[0].tolist() == pytest.approx([2.0, -2.0])


def test_the_mode_is_the_mean(two):
    assert two.mode(parameters([1.0, -1.0], [2.0, 0.5])).tolist() == [[1.0, -1.0]]


def test_the_environment_gets_actions_clipped_into_its_bounds(two):
    found = two.env_action(np.array([[-5.0, 5.0], [1.5, 0.25]], np.float32))
    assert found.tolist() == [[-1.0, 0.5], [1.5, 0.25]]


def test_clipping_leaves_the_stored_action_as_it_was(two):
    action = np.array([[-5.0, 5.0]], np.float32)
    two.env_action(action)
    assert action.tolist() == [[-5.0, 5.0]]


def test_actions_of_several_axes_are_kept_flat_and_given_in_their_shape():
    made = DiagGaussian(gym.spaces.Box(-1.0, 1.0, (2, 3), np.float32))
    assert made.action.shape == (6,) and made.parameter_size == 12
    action = np.linspace(-2, 2, 6, dtype=np.float32)[None]
    found = made.env_action(action)
    assert found.shape == (1, 2, 3)
    assert found[0, 0].tolist() == pytest.approx([-1.0, -1.0, -0.4])


def test_the_spread_is_one_parameter_for_all_observations():
    made = DiagGaussian(
        gym.spaces.Box(-1.0, 1.0, (2,), np.float32), DiagGaussianConfig(log_std_init=-0.5)
    )
    torch.manual_seed(0)
    head = made.head(8)
    found = head(torch.randn(5, 8))
    assert torch.equal(found[:, 2:], torch.full((5, 2), -0.5))
    assert head.log_std.shape == (2,)
    assert found[:, :2].abs().max().item() < 0.1  # a gain of 0.01: the first actions are near zero


@pytest.mark.parametrize("wrong", [-20.1, 20.1, math.nan])
def test_an_initial_spread_with_which_float32_overflows_is_refused(wrong):
    with pytest.raises(ValueError, match="log_std_init"):
        DiagGaussianConfig(log_std_init=wrong)
    for widest in (-20.0, 20.0):
        assert DiagGaussianConfig(log_std_init=widest).log_std_init == widest


def test_log_prob_is_that_of_the_action_and_not_of_the_clipped_one(two):
    given = parameters([50.0, 0.0], [1.0, 1.0])
    action = two.sample(given, torch.zeros(1, 2))
    assert action.tolist() == [[50.0, 0.0]]
    assert two.log_prob(given, action).item() == pytest.approx(-2 * HALF_LOG_2PI, abs=1e-6)
