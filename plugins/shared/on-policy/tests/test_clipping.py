from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_on_policy.clipping import clip_fraction, clipped_policy_loss, clipped_value

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
