from __future__ import annotations

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk_multi_categorical.distribution import MultiCategorical
from rlk_testing import DistributionContract

RAGGED = gym.spaces.MultiDiscrete([2, 3])
EVEN = gym.spaces.MultiDiscrete([3, 3])
MOVED = gym.spaces.MultiDiscrete([2, 1, 3], start=[-1, 5, 2])
SQUARE = gym.spaces.MultiDiscrete(np.array([[2, 3], [3, 2]]), start=np.array([[0, 1], [2, 3]]))


class TestMultiCategorical(DistributionContract):
    component = "multi-categorical"
    action_spaces = (RAGGED, EVEN, MOVED, SQUARE)


@pytest.fixture
def ragged():
    return MultiCategorical(RAGGED)


def logits(*choices):
    """Logits of these probabilities, each choice moved by a constant that must not matter."""
    parts = [torch.log(tensor(chances)) + 3.0 * i for i, chances in enumerate(choices)]
    return torch.cat(parts)[None]


def test_log_prob_is_the_logarithm_of_the_product_of_the_probabilities(ragged):
    given = logits([0.4, 0.6], [0.5, 0.3, 0.2])
    found = ragged.log_prob(given, tensor([[1, 2]]))
    assert found.item() == pytest.approx(math.log(0.6 * 0.2), abs=1e-6)


def test_entropy_by_hand(ragged):
    found = ragged.entropy(logits([0.5, 0.5], [0.5, 0.25, 0.25]))
    assert found.item() == pytest.approx(math.log(2) + 1.5 * math.log(2), abs=1e-6)


def test_divergence_by_hand(ragged):
    found = ragged.kl(
        logits([0.5, 0.5], [0.5, 0.25, 0.25]), logits([0.25, 0.75], [0.25, 0.5, 0.25])
    )
    first = 0.5 * math.log(2.0) + 0.5 * math.log(2 / 3)
    second = 0.5 * math.log(2.0) + 0.25 * math.log(0.5)
    assert found.item() == pytest.approx(first + second, abs=1e-6)


def test_a_sample_is_where_logit_and_noise_together_are_largest(ragged):
    found = ragged.sample(tensor([[1.0, 2.0, 0.0, 5.0, 1.0]]), tensor([[1.5, 0.0, 0.0, 0.0, 4.5]]))
    assert found.tolist() == [[0, 2]]  # 2.5, 2.0 and 0.0, 5.0, 5.5


def test_the_mode_is_the_likeliest_option_of_every_choice(ragged):
    assert ragged.mode(logits([0.4, 0.6], [0.5, 0.3, 0.2])).tolist() == [[1, 0]]


def test_an_option_that_a_choice_lacks_is_never_the_largest(ragged):
    """All logits far below zero: whatever the table is padded with must be lower still."""
    given = torch.full((1, 5), -1e6)
    assert ragged.mode(given).tolist() == [[0, 0]]
    assert ragged.entropy(given).item() == pytest.approx(math.log(2) + math.log(3), abs=1e-6)


@pytest.mark.parametrize("space", [RAGGED, EVEN, MOVED, SQUARE], ids=str)
def test_every_formula_equals_that_of_one_categorical_over_all_actions(space):
    """By brute force: the joint distribution, by the outer sum of all logits."""
    distribution = MultiCategorical(space)
    generator = torch.Generator().manual_seed(0)
    one = torch.randn(7, distribution.parameter_size, generator=generator)
    two = torch.randn(7, distribution.parameter_size, generator=generator)
    actions = list(itertools.product(*[range(n) for n in distribution.sizes]))
    starts = np.cumsum([0, *distribution.sizes[:-1]])

    def joint(parameters):
        columns = [parameters[:, [s + a for s, a in zip(starts, action, strict=True)]].sum(1)
                   for action in actions]  # fmt: skip
        return torch.distributions.Categorical(logits=torch.stack(columns, 1))

    p, q = joint(one), joint(two)
    for i, action in enumerate(actions):
        found = distribution.log_prob(one, tensor(action).expand(7, -1))
        assert torch.allclose(found, p.log_prob(tensor(i)), atol=1e-5)
    assert torch.allclose(distribution.entropy(one), p.entropy(), atol=1e-5)
    expected = torch.distributions.kl_divergence(p, q)
    assert torch.allclose(distribution.kl(one, two), expected, atol=1e-5)
    best = [list(actions[i]) for i in p.probs.argmax(1).tolist()]
    assert distribution.mode(one).tolist() == best


def test_gradients_of_a_padded_table_are_finite_and_those_of_the_joint(ragged):
    given = torch.randn(4, 5, generator=torch.Generator().manual_seed(1)).requires_grad_()
    (gradient,) = torch.autograd.grad(ragged.entropy(given).sum(), given)
    first, second = given.split([2, 3], 1)
    twins = [torch.distributions.Categorical(logits=part) for part in (first, second)]
    (expected,) = torch.autograd.grad(sum(t.entropy().sum() for t in twins), given)
    assert torch.allclose(gradient, expected, atol=1e-6)


def test_actions_are_kept_from_zero_on_and_given_as_the_space_numbers_and_shapes_them():
    assert MultiCategorical(MOVED).env_action(np.array([[0, 0, 2], [1, 0, 0]])).tolist() == [
        [-1, 5, 4],
        [0, 5, 2],
    ]
    found = MultiCategorical(SQUARE).env_action(np.array([[1, 2, 0, 1]]))
    assert found.tolist() == [[[1, 3], [2, 4]]]
    assert SQUARE.contains(found[0])


def test_the_environment_gets_the_dtype_of_its_space():
    space = gym.spaces.MultiDiscrete([2, 3], dtype=np.int32)
    assert MultiCategorical(space).env_action(np.array([[0, 2]])).dtype == np.int32


def test_logits_far_from_zero_stay_finite(ragged):
    given = tensor([[1e4, 0.0, 0.0, -1e4, 1e4]])
    assert ragged.log_prob(given, tensor([[0, 2]])).item() == pytest.approx(0.0)
    assert (
        torch.isfinite(ragged.entropy(given)).all()
        and torch.isfinite(ragged.kl(given, -given)).all()
    )


def test_the_first_policy_is_close_to_uniform(ragged):
    torch.manual_seed(0)
    entropy = ragged.entropy(ragged.head(64)(torch.randn(100, 64)))
    assert entropy.min().item() > math.log(2) + math.log(3) - 0.01
