from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk_bernoulli.distribution import Bernoulli
from rlk_testing import DistributionContract


class TestBernoulli(DistributionContract):
    component = "bernoulli"
    action_spaces = (
        gym.spaces.MultiBinary(3),
        gym.spaces.MultiBinary(1),
        gym.spaces.MultiBinary((2, 2)),
    )


@pytest.fixture
def two():
    return Bernoulli(gym.spaces.MultiBinary(2))


def logits(*chances):
    p = tensor([chances])
    return torch.log(p / (1 - p))


def test_log_prob_is_the_logarithm_of_the_product_of_the_probabilities(two):
    given = logits(0.8, 0.3)
    for action, chance in {(1, 0): 0.8 * 0.7, (0, 1): 0.2 * 0.3, (1, 1): 0.8 * 0.3}.items():
        found = two.log_prob(given, tensor([action]))
        assert found.item() == pytest.approx(math.log(chance), abs=1e-6)


def test_entropy_by_hand(two):
    expected = math.log(2) - 0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert two.entropy(logits(0.5, 0.25)).item() == pytest.approx(expected, abs=1e-6)


def test_divergence_by_hand(two):
    expected = 0.5 * math.log(0.5 / 0.2) + 0.5 * math.log(0.5 / 0.8)
    assert two.kl(logits(0.5, 0.3), logits(0.2, 0.3)).item() == pytest.approx(expected, abs=1e-6)


def test_a_switch_is_on_where_logit_and_noise_are_above_zero(two):
    found = two.sample(tensor([[1.0, -1.0]]), tensor([[-0.5, 0.5]]))
    assert found.tolist() == [[1, 0]]


def test_the_mode_is_on_where_that_is_likelier(two):
    assert two.mode(logits(0.6, 0.4)).tolist() == [[1, 0]]


def test_its_noise_has_the_logistic_distribution(two):
    noise = two.noise(np.random.default_rng(0), 100_000)
    # P(L < x) = 1 / (1 + exp(-x)); 200,000 draws: a standard deviation of at most 0.0012.
    for x in (-2.0, -0.5, 0.0, 1.0):
        assert (noise < x).mean() == pytest.approx(1 / (1 + math.exp(-x)), abs=0.006)


def test_every_formula_equals_that_of_torch(two):
    generator = torch.Generator().manual_seed(0)
    one, other = 2 * torch.randn(2, 50, 2, generator=generator)
    action = (torch.rand(50, 2, generator=generator) < 0.5).to(torch.int8)
    p, q = torch.distributions.Bernoulli(logits=one), torch.distributions.Bernoulli(logits=other)
    assert torch.allclose(two.log_prob(one, action), p.log_prob(action.float()).sum(1), atol=1e-5)
    assert torch.allclose(two.entropy(one), p.entropy().sum(1), atol=1e-5)
    expected = torch.distributions.kl_divergence(p, q).sum(1)
    assert torch.allclose(two.kl(one, other), expected, atol=1e-5)


def test_logits_far_from_zero_stay_finite(two):
    given = tensor([[1e4, -1e4]])
    assert two.log_prob(given, tensor([[1, 0]])).item() == 0.0
    assert two.log_prob(given, tensor([[0, 0]])).item() == pytest.approx(-1e4)
    assert two.entropy(given).item() == pytest.approx(0.0, abs=1e-6)
    assert bool(torch.isfinite(two.kl(given, -given)).all())


def test_actions_of_several_axes_are_kept_flat_and_given_in_their_shape():
    space = gym.spaces.MultiBinary((2, 3))
    made = Bernoulli(space)
    assert made.action.shape == (6,) and made.parameter_size == 6
    found = made.env_action(np.array([[1, 0, 0, 1, 1, 0]], np.int8))
    assert found.tolist() == [[[1, 0, 0], [1, 1, 0]]]
    assert space.contains(found[0]) and found.dtype == space.dtype


def test_at_first_every_switch_is_on_about_half_of_the_time(two):
    torch.manual_seed(0)
    chance = torch.sigmoid(two.head(64)(torch.randn(100, 64)))
    assert (chance - 0.5).abs().max().item() < 0.03
