"""Comparison of arrays bit for bit, in both ways that there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_stored_steps.same_bits import comparison

RECORDS = np.zeros(3, np.dtype([("number", "i8"), ("flag", "?")], align=True))
RECORDS["number"] = [1, 2, 3]


@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([0.0]), np.array([-0.0]), False),
        (RECORDS["number"], np.array([1, 2, 3]), True),
        (RECORDS["number"], np.array([1, 2, 4]), False),
        (RECORDS["number"][1], np.int64(2), True),
        (np.array(2), np.array(3), False),
        (np.arange(6).reshape(2, 3).T, np.array([[0, 3], [1, 4], [2, 5]]), True),
    ],
)
def test_bits_are_compared_whatever_the_memory_of_an_array(
    size: int, one: Any, other: Any, is_equal: bool
) -> None:
    assert comparison(size)(one, other) == is_equal
