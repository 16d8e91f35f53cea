from __future__ import annotations

import math

import pytest
import torch
from torch import tensor

from rlk_ppo.loss import approximate_kl, clipped_value_loss


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (1.1, 0.9),  # within the range: R - V = 2 - 1.1
        (1.5, 0.8),  # counted as 1.2
        (0.0, 1.2),  # counted as 0.8, although its own error of 2 is larger
    ],
)
def test_a_clipped_value_counts_alone(value, error):
    found = clipped_value_loss(tensor([value]), tensor([1.0]), tensor([2.0]), tensor(0.2))
    assert found.item() == pytest.approx(error**2)


def test_the_approximate_divergence_by_hand():
    # Ratios 2 and 1: (2 - 1 - log 2) / 2.
    found = approximate_kl(tensor([math.log(0.8), -1.0]), tensor([math.log(0.4), -1.0]))
    assert found.item() == pytest.approx((1.0 - math.log(2.0)) / 2)


def test_the_approximate_divergence_is_that_of_the_old_policy_from_the_new_one():
    old, new = tensor([0.2, 0.3, 0.5]).log(), tensor([0.4, 0.3, 0.3]).log()
    generator = torch.Generator().manual_seed(0)
    action = torch.multinomial(old.exp(), 200_000, replacement=True, generator=generator)
    exact = (old.exp() * (old - new)).sum().item()
    assert approximate_kl(new[action], old[action]).item() == pytest.approx(exact, rel=0.02)


def test_the_approximate_divergence_takes_no_gradient():
    ones = torch.ones(2, requires_grad=True)
    assert not approximate_kl(ones, ones).requires_grad
