"""Checks whether a policy for one space can be used with another."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.spaces import channels_first, is_image


def alike(one: Any, other: Any, *, bounds: bool, either_axis: bool = False) -> bool:
    """Whether two spaces are the same for a policy; the dtype of floats does not matter.

    Args:
        one, other: the spaces.
        bounds: whether the bounds of a Box must be equal, as for actions.
        either_axis: whether it does not matter on which axis images have their channels.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, spaces.Dict):
        keys = one.spaces.keys()
        return keys == other.spaces.keys() and all(
            alike(one[key], other[key], bounds=bounds, either_axis=either_axis) for key in keys
        )
    if isinstance(one, spaces.Box):
        are_close = (
            bool(np.allclose(one.low, other.low) and np.allclose(one.high, other.high))
            if one.shape == other.shape and bounds
            else True
        )
        is_integer = [np.issubdtype(space.dtype, np.integer) for space in (one, other)]
        shapes = [_shape(space) if either_axis else space.shape for space in (one, other)]
        return shapes[0] == shapes[1] and is_integer[0] == is_integer[1] and are_close
    return bool(one == other)


def takes_either_axis(policy: Any) -> bool:
    """Whether a policy, by its settings, has a CNN for every image.

    The weights of a CNN are the same for channels first, from which Stable-Baselines3 learns, and
    channels last. A policy without one flattens images, so that its weights follow the order.
    """
    return hasattr(policy, "channels") and getattr(policy, "feature_extraction", "cnn") != "mlp"


def _shape(space: spaces.Box) -> tuple[int, ...]:
    """Its shape; that of images as if they had their channels first."""
    if not is_image(space) or channels_first(space.shape):
        return space.shape
    *size, channels = space.shape
    return (channels, *size)
