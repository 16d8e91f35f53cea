"""Checks whether a policy for one space can be used with another."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.spaces import channels_first, is_image


def alike(one: Any, other: Any, *, bounds: bool) -> bool:
    """Whether two spaces are the same for a policy.

    The dtype of floats does not matter, nor on which axis images have their channels: weights of a
    CNN are the same for both, and Stable-Baselines3 always learns from channels first.

    Args:
        one, other: the spaces.
        bounds: whether the bounds of a Box must be equal, as for actions.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, spaces.Dict):
        keys = one.spaces.keys()
        return keys == other.spaces.keys() and all(
            alike(one[key], other[key], bounds=bounds) for key in keys
        )
    if isinstance(one, spaces.Box):
        are_close = (
            bool(np.allclose(one.low, other.low) and np.allclose(one.high, other.high))
            if one.shape == other.shape and bounds
            else True
        )
        is_integer = [np.issubdtype(space.dtype, np.integer) for space in (one, other)]
        return _shape(one) == _shape(other) and is_integer[0] == is_integer[1] and are_close
    return bool(one == other)


def _shape(space: spaces.Box) -> tuple[int, ...]:
    """Its shape; that of images as if they had their channels first."""
    if not is_image(space) or channels_first(space.shape):
        return space.shape
    *size, channels = space.shape
    return (channels, *size)
