from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces as s

from rlk.errors import NotFinite
from rlk_step_collector.finite import finite, finite_check, refuse_non_finite

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


def test_the_environment_of_a_single_row_is_the_one_that_is_told():
    run = SimpleNamespace(plan=SimpleNamespace(env=SimpleNamespace(name="mine")), timesteps=8)
    with pytest.raises(NotFinite, match=r"environment 3 \(mine\) gave nan in observation\[1\]"):
        refuse_non_finite(run, None, np.array([[0.0, np.nan]]), env=3)
