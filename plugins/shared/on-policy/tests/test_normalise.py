from __future__ import annotations

import pytest
from torch import tensor

from rlk_on_policy.normalise import normalised


def test_advantages_get_zero_mean_and_unit_variance():
    found = normalised(tensor([0.0, 0.0, 0.0, 4.0]), lambda value: value)
    assert found.tolist() == pytest.approx([-(3**-0.5)] * 3 + [3**0.5])  # mean 1, variance 3


def test_one_advantage_alone_becomes_zero_instead_of_nan():
    assert normalised(tensor([5.0]), lambda value: value).tolist() == [0.0]


def test_moments_of_advantages_are_means_over_ranks():
    """The other rank has zeros: the mean over both is 1, the mean square of what is left 1/2."""
    found = normalised(tensor([2.0, 2.0]), lambda value: value / 2)
    assert found.tolist() == pytest.approx([2**0.5, 2**0.5])
