"""A space comes back from a file as it was, with its first numbers and its dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines.environments.spaces import as_in_a_file, space_of, space_state

SPACES: list[spaces.Space[Any]] = [
    spaces.Box(np.array([-1, 0]), np.array([1, 9]), dtype=np.float64),
    spaces.Box(0, 255, (2, 3), np.uint8),
    spaces.Discrete(3, start=5),
    spaces.MultiDiscrete([2, 3], start=[4, 7]),
    spaces.MultiBinary(4),
    spaces.MultiBinary([2, 3]),
]


@pytest.mark.parametrize("space", [*SPACES, spaces.Dict(dict(zip("abcdef", SPACES, strict=True)))])
def test_a_space_comes_back_as_it_was(space: Any) -> None:
    found = space_of(space_state(space))
    assert found == space == as_in_a_file(space)
    assert (found.shape, found.dtype) == (space.shape, space.dtype)


def test_a_space_that_no_file_holds_stays_what_it_is() -> None:
    space = spaces.Text(3)
    assert space_state(space) == {} and as_in_a_file(space) is space
