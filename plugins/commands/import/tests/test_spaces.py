"""Which spaces are alike for a policy: floats of any dtype, but not integers."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from rlk_import.spaces import alike


def test_the_dtype_of_floats_does_not_matter_but_integers_are_scaled_otherwise() -> None:
    one, other = (spaces.Box(0, 255, (2,), dtype) for dtype in (np.float32, np.float64))
    whole = spaces.Box(0, 255, (2,), np.uint8)
    assert alike(one, other, bounds=True)
    assert not alike(one, whole, bounds=True) and not alike(whole, one, bounds=False)


@pytest.mark.parametrize(("low", "high"), [(-1, 2), (-2, 1)])
def test_both_bounds_of_actions_matter_and_those_of_observations_do_not(
    low: float, high: float
) -> None:
    one, other = spaces.Box(-1, 1, (2,)), spaces.Box(low, high, (2,))
    assert not alike(one, other, bounds=True) and alike(one, other, bounds=False)
    assert not alike(spaces.Dict(a=one), spaces.Dict(a=other), bounds=True)
    assert not alike(spaces.Dict(a=one), spaces.Dict(b=one), bounds=False)
