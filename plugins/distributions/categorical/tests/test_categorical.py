from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk_categorical.distribution import Categorical
from rlk_testing import DistributionContract


class TestCategorical(DistributionContract):
    component = "categorical"


@pytest.fixture
def three():
    return Categorical(gym.spaces.Discrete(3))


def logits(*chances):
    """Logits of these probabilities, moved by a constant that must not matter."""
    return torch.log(tensor([chances])) + 5.0


def test_log_prob_is_the_logarithm_of_the_probability(three):
    for action, chance in enumerate((0.5, 0.3, 0.2)):
        found = three.log_prob(logits(0.5, 0.3, 0.2), tensor([action]))
        assert found.item() == pytest.approx(math.log(chance), abs=1e-6)


def test_entropy_by_hand(three):
    expected = -(0.5 * math.log(0.5) + 0.25 * math.log(0.25) * 2)
    assert three.entropy(logits(0.5, 0.25, 0.25)).item() == pytest.approx(expected, abs=1e-6)


def test_entropy_is_greatest_for_equal_chances_and_zero_for_certainty(three):
    assert three.entropy(torch.zeros(1, 3)).item() == pytest.approx(math.log(3))
    assert three.entropy(tensor([[100.0, 0.0, 0.0]])).item() == pytest.approx(0.0, abs=1e-6)


def test_divergence_by_hand(three):
    one, two = logits(0.5, 0.25, 0.25), logits(0.25, 0.5, 0.25)
    expected = 0.5 * math.log(2.0) + 0.25 * math.log(0.5)
    assert three.kl(one, two).item() == pytest.approx(expected, abs=1e-6)


def test_the_mode_is_the_likeliest_action(three):
    assert three.mode(logits(0.2, 0.5, 0.3)).tolist() == [1]


def test_a_sample_is_where_logit_and_noise_together_are_largest(three):
    found = three.sample(tensor([[1.0, 2.0, 0.0]]), tensor([[1.5, 0.0, 2.4]]))
    assert found.tolist() == [0]  # 2.5, 2.0, 2.4


def test_its_noise_has_the_gumbel_distribution(three):
    noise = three.noise(np.random.default_rng(0), 100_000)
    # P(g < x) = exp(-exp(-x)); 300,000 draws: a standard deviation of at most 0.0009.
    for x in (-1.0, 0.0, 1.0, 2.0):
        assert (noise < x).mean() == pytest.approx(math.exp(-math.exp(-x)), abs=0.005)


def test_logits_far_from_zero_stay_finite(three):
    parameters = tensor([[1e4, 0.0, -1e4]])
    assert three.log_prob(parameters, tensor([0])).item() == pytest.approx(0.0)
    assert bool(torch.isfinite(three.entropy(parameters)).all())


def test_actions_are_kept_from_zero_on_and_given_from_the_start_of_the_space():
    moved = Categorical(gym.spaces.Discrete(3, start=-1))
    assert moved.env_action(np.array([0, 1, 2])).tolist() == [-1, 0, 1]
    plain = Categorical(gym.spaces.Discrete(3))
    assert plain.env_action(np.array([0, 1, 2])).tolist() == [0, 1, 2]


def test_the_first_policy_is_close_to_uniform(three):
    torch.manual_seed(0)
    head = three.head(64)
    entropy = three.entropy(head(torch.randn(100, 64)))
    assert entropy.min().item() > math.log(3) - 0.01
    # Orthogonal with a gain of 0.01.
    weight = head.weight.detach()
    assert torch.allclose(weight.T @ weight, 1e-4 * torch.eye(3), atol=1e-8)
