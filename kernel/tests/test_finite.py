"""Which numbers of environments are finite, and how the first that is not is named."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces as s

from rlk.finite import finite, finite_check, first_non_finite

IMAGE = s.Box(0, 255, (4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0], True),
        ([1.0, np.nan], False),
        ([np.inf, 1.0], False),
        ([np.inf, -np.inf], False),
        ([3e38, 3e38], True),  # the sum overflows, no term does
        ([], True),
    ],
)
def test_an_array_is_finite_if_every_number_is(values, expected):
    assert finite(np.array(values, np.float32)) is expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1e38, 2.0], True), ([3e38, 3e38], True), ([1e39, 2.0], False), ([1e39, -1e39], False)],
)
def test_what_no_float32_can_hold_is_not_finite(values, expected):
    assert finite(np.array(values, np.float64)) is expected


def test_only_floating_point_observations_are_looked_at():
    assert finite_check(s.Discrete(3))(np.array([1]))
    assert finite_check(IMAGE)(np.zeros((1, 4, 5, 3), np.uint8))
    check = finite_check(s.Dict({"a": s.Box(-1, 1, (2,)), "b": s.Discrete(2)}))
    assert check({"a": np.zeros((1, 2)), "b": np.zeros(1)})
    assert not check({"a": np.array([[0.0, np.nan]]), "b": np.zeros(1)})


ZEROS = np.zeros((2, 2))
ONES = np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("observation", "reward", "expected"),
    [
        (ZEROS, ONES, None),
        (ZEROS, None, None),
        (np.array([[0.0, 0.0], [0.0, np.nan]]), None, (1, "nan in observation[1]")),
        ({"count": np.array([3]), "at": np.array([np.nan])}, ONES, (0, "nan in at")),
        (ZEROS, np.array([1.0, np.nan]), (1, "nan in reward")),
        # what was written into an array of float32 as infinity need not have been infinite
        (
            ZEROS,
            np.array([1.0, -np.inf], np.float32),
            (1, "-inf (or a number too large for a float32) in reward"),
        ),
        (np.array([[np.inf, 1.0]]), None, (0, "inf in observation[0]")),
        (ZEROS, np.array([1e39, 1.0]), (0, "1e+39 (too large for a float32) in reward")),
        # a key of observations may be called like the reward
        ({"reward": np.array([np.nan, 1.0])}, ONES, (0, "nan in reward")),
    ],
)
def test_the_first_that_is_not_finite_is_named_with_its_row(observation, reward, expected):
    assert first_non_finite(observation, reward) == expected
