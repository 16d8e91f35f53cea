"""Statistics of returns and Pop-Art: numbers by hand, numpy over everything that was seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import tensor

from rlk_ddpg.return_statistics import (
    PRIOR,
    denormalised,
    mean_and_std,
    merged,
    normalised,
    rescaled,
)


def alone(values):
    """The mean over one rank."""
    return values


def moments(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_two_groups_of_returns_by_hand():
    # 1, 3 (mean 2, variance 1) and 4, 8, 6 (mean 6, variance 8/3): 1, 3, 4, 8, 6 has 4.4 and 5.84.
    found = merged(moments(2.0, 1.0, 2.0), tensor([4.0, 8.0, 6.0]), alone, 1)
    assert found.tolist() == pytest.approx([4.4, 5.84, 5.0])
    assert found.dtype == torch.float64


def test_statistics_begin_as_if_a_hundredth_of_a_return_had_been_seen():
    # 2, 4 (mean 3, variance 1) and 0.01 returns of mean 0 and variance 1.
    found = merged(moments(*PRIOR), tensor([2.0, 4.0]), alone, 1)
    assert found.tolist() == pytest.approx([6 / 2.01, (2.01 + 9 * 0.02 / 2.01) / 2.01, 2.01])


def test_batches_have_the_moments_of_everything_that_was_seen_even_far_from_zero():
    rng = np.random.default_rng(0)
    batches = [1e4 + rng.normal(size=16).astype(np.float32) for _ in range(20)]
    found = moments(0.0, 1.0, 0.0)
    for batch in batches:
        found = merged(found, torch.from_numpy(batch), alone, 1)
    seen = np.concatenate(batches).astype(np.float64)
    assert found.tolist() == pytest.approx([seen.mean(), seen.var(), 320.0], rel=1e-9)


def test_ranks_have_the_moments_of_all_their_returns():
    one, other = tensor([1.0, 2.0]), tensor([5.0, 9.0])
    start = moments(1.0, 2.0, 4.0)
    sums = [
        torch.stack([(r - 1.0).double().mean(), (r - 1.0).double().square().mean()])
        for r in (one, other)
    ]
    found = merged(start, one, lambda _: (sums[0] + sums[1]) / 2, 2)
    expected = merged(start, torch.cat([one, other]), alone, 1)
    assert found.tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_return_that_is_not_finite_changes_nothing(bad):
    start = moments(1.0, 2.0, 4.0)
    assert merged(start, tensor([0.0, bad]), alone, 1).tolist() == [1.0, 2.0, 4.0]


def test_it_begins_with_mean_0_and_deviation_1():
    mean, std = mean_and_std(moments(*PRIOR))
    assert (mean.item(), std.item()) == (0.0, 1.0)


def test_no_deviation_is_below_a_tenth():
    assert mean_and_std(moments(3.0, 0.0, 9.0))[1].item() == pytest.approx(0.1)
    assert mean_and_std(moments(3.0, 4.0, 9.0))[1].item() == 2.0


def test_normalised_and_back_by_hand():
    mean, std = tensor(10.0), tensor(4.0)
    assert normalised(tensor([12.0, 2.0]), mean, std).tolist() == [0.5, -2.0]
    assert denormalised(tensor([0.5, -2.0]), mean, std).tolist() == [12.0, 2.0]


def test_a_rescaled_output_layer_by_hand():
    weight, bias = rescaled(
        tensor([[2.0], [-4.0]]),
        tensor([1.0]),
        (tensor(3.0), tensor(2.0)),
        (tensor(5.0), tensor(4.0)),
    )
    # 2 * 2/4 and -4 * 2/4; (2 * 1 + 3 - 5) / 4.
    assert weight.tolist() == [[1.0], [-2.0]]
    assert bias.tolist() == [0.0]


def test_values_stay_the_same_after_the_moments_moved():
    torch.manual_seed(0)
    features, weight, bias = torch.randn(7, 5), torch.randn(5, 1), torch.randn(1)
    old, new = (tensor(-3.0), tensor(0.7)), (tensor(40.0), tensor(12.0))
    before = denormalised(features @ weight + bias, *old)
    other_weight, other_bias = rescaled(weight, bias, old, new)
    after = denormalised(features @ other_weight + other_bias, *new)
    assert torch.allclose(before, after, atol=1e-5)
    assert not torch.allclose(features @ weight + bias, features @ other_weight + other_bias)
