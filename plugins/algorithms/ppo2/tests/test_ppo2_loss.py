from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_ppo2.loss import (
    approximate_kl,
    clipped_value_loss,
    value_loss,
)

EPS = tensor(0.2)


def test_the_value_loss_is_half_the_mean_square():
    assert value_loss(tensor([1.0, 4.0]), tensor([3.0, 4.0])).item() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (1.1, 0.9),  # within the range: R - V = 2 - 1.1
        (1.5, 0.8),  # moved by 0.5, counted as 1.2: the larger error of 0.5 and 0.8
        (0.0, 2.0),  # moved away: 2 is more than the 1.2 of 0.8
    ],
)
def test_the_value_loss_counts_the_larger_error_of_the_value_and_the_clipped_one(value, error):
    found = clipped_value_loss(tensor([value]), tensor([1.0]), tensor([2.0]), EPS)
    assert found.item() == pytest.approx(0.5 * error**2)


def test_a_wide_range_does_not_clip_values():
    generator = torch.Generator().manual_seed(0)
    value, old, return_ = (torch.randn(32, generator=generator) for _ in range(3))
    wide = clipped_value_loss(value, old, return_, tensor(100.0))
    assert wide.item() == pytest.approx(value_loss(value, return_).item(), rel=1e-6)


def test_the_approximate_divergence_is_half_the_mean_square_of_the_difference():
    assert approximate_kl(tensor([-1.0, -3.0]), tensor([-2.0, -3.0])).item() == pytest.approx(0.25)


def test_what_is_only_logged_takes_no_gradient():
    ratio = torch.ones(2, requires_grad=True)
    assert not approximate_kl(ratio, ratio).requires_grad
