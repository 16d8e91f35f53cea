"""The terms of losses: their values, and when they have a gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import tensor

from rlk_categorical.distribution import Categorical
from rlk_on_policy.loss_terms import (
    clip_fraction,
    clipped_policy_loss,
    clipped_value,
    mean_entropy,
    normalised,
    squared_error,
)

# ---- mean entropy --------------------------------------------------------------------------------


@pytest.mark.parametrize("coef", [0.0, 0.5])
def test_it_is_the_mean_of_all_rows(coef: float) -> None:
    logits = torch.tensor([[0.0, 0.0], [np.log(3.0), 0.0]])
    of_quarters = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    found = mean_entropy(Categorical(spaces.Discrete(2)), logits, coef)
    assert found.item() == pytest.approx((np.log(2.0) + of_quarters) / 2)


def test_it_has_a_gradient_unless_its_weight_is_zero() -> None:
    distribution, logits = Categorical(spaces.Discrete(2)), torch.tensor([[1.0, 0.0]])
    logits.requires_grad_()
    assert not mean_entropy(distribution, logits, 0.0).requires_grad
    mean_entropy(distribution, logits, 0.01).backward()
    p = 1 / (1 + np.exp(-1.0))
    by_hand = -p * (1 - p)  # dH/dz = -p (1 - p) z, for the difference z = 1 of two logits
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([by_hand, -by_hand])


class WithoutFormula(Categorical):
    def entropy(self, parameters: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("no formula")


def test_without_a_formula_it_is_estimated_from_the_actions_of_the_batch() -> None:
    # Probabilities of 1/4 and 3/4: a batch with one and three of these actions is an exact sample.
    logits = torch.tensor([0.0, np.log(3.0)]).expand(4, 2).clone().requires_grad_()
    actions = torch.tensor([0, 1, 1, 1])
    found = []
    for kind in (Categorical, WithoutFormula):
        distribution = kind(spaces.Discrete(2))
        log_prob = distribution.log_prob(logits, actions)
        entropy = mean_entropy(distribution, logits, 0.5, log_prob)
        (gradient,) = torch.autograd.grad(entropy, logits)
        found.append([entropy.item(), *gradient.sum(0).tolist()])
        assert not mean_entropy(distribution, logits, 0.0, log_prob).requires_grad
    assert found[1] == pytest.approx(found[0])


def test_without_a_formula_and_without_log_probabilities_there_is_none() -> None:
    with pytest.raises(NotImplementedError, match=r"WithoutFormula has no formula.*log_prob"):
        mean_entropy(WithoutFormula(spaces.Discrete(2)), torch.zeros(1, 2), 0.5)


# ---- PPO's clipping ------------------------------------------------------------------------------

EPS = tensor(0.2)


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective"),
    [
        (1.0, 2.0, 2.0),
        (1.1, 2.0, 2.2),
        (1.5, 2.0, 2.4),  # no more than 1.2 times a good action
        (0.5, 2.0, 1.0),  # the smaller one: nothing holds back what must become likelier
        (0.5, -2.0, -1.6),  # no less than 0.8 times a bad one
        (1.5, -2.0, -3.0),
    ],
)
def test_the_objective_is_the_smaller_of_the_ratio_and_the_clipped_ratio(
    ratio, advantage, objective
):
    found = clipped_policy_loss(tensor([ratio]), tensor([advantage]), EPS)
    assert found.item() == pytest.approx(-objective)


def test_it_is_averaged_over_the_batch():
    found = clipped_policy_loss(tensor([1.0, 1.5]), tensor([2.0, 2.0]), EPS)
    assert found.item() == pytest.approx(-(2.0 + 2.4) / 2)


def test_where_the_ratio_is_clipped_there_is_no_gradient():
    ratio = tensor([1.5, 1.1, 0.5, 0.5], requires_grad=True)
    loss = clipped_policy_loss(ratio, tensor([1.0, 1.0, -1.0, 1.0]), EPS)
    (gradient,) = torch.autograd.grad(loss, ratio)
    assert gradient.tolist() == [0.0, -0.25, 0.0, -0.25]


def test_the_clip_fraction_counts_ratios_outside_of_the_range():
    ratio = tensor([1.0, 1.19, 1.21, 0.79])
    assert clip_fraction(ratio, EPS).item() == 0.5


def test_the_clip_fraction_is_only_logged_and_takes_no_gradient():
    assert not clip_fraction(torch.ones(2, requires_grad=True), EPS).requires_grad


@pytest.mark.parametrize(
    ("value", "found"),
    [(1.1, 1.1), (1.5, 1.2), (0.0, 0.8)],  # 1 is what it was, and 0.2 the range
)
def test_a_value_moves_by_the_range_at_most(value, found):
    clipped = clipped_value(tensor([value]), tensor([1.0]), tensor(0.2))
    assert clipped.item() == pytest.approx(found)


def test_a_clipped_value_has_no_gradient():
    value = tensor([1.1, 1.5], requires_grad=True)
    clipped = clipped_value(value, tensor([1.0, 1.0]), tensor(0.2))
    (gradient,) = torch.autograd.grad(clipped.sum(), value)
    assert gradient.tolist() == [1.0, 0.0]


# ---- normalised advantages -----------------------------------------------------------------------


def test_advantages_get_zero_mean_and_unit_variance():
    found = normalised(tensor([0.0, 0.0, 0.0, 4.0]), lambda value: value)
    assert found.tolist() == pytest.approx([-(3**-0.5)] * 3 + [3**0.5])  # mean 1, variance 3


def test_one_advantage_alone_becomes_zero_instead_of_nan():
    assert normalised(tensor([5.0]), lambda value: value).tolist() == [0.0]


def test_moments_of_advantages_are_means_over_ranks():
    """The other rank has zeros: the mean over both is 1, the mean square of what is left 1/2."""
    found = normalised(tensor([2.0, 2.0]), lambda value: value / 2)
    assert found.tolist() == pytest.approx([2**0.5, 2**0.5])


# ---- squared error -------------------------------------------------------------------------------


def test_the_value_loss_is_the_whole_mean_square_and_not_half_of_it():
    assert squared_error(tensor([1.0, 4.0]), tensor([3.0, 4.0])).item() == pytest.approx(2.0)
