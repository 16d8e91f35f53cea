"""The linear function from actions in -1 to 1 to those of a Box, and its inverse.

Dimensions: N environments, D action dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array


def scaled(space: Any) -> Callable[[Array], Array]:
    """The linear function from actions in -1 to 1, [N, ...], to those of a Box, [N, *shape].

    Raises:
        PlanError: if a bound is infinite.
    """
    low, high, shape, dtype = space.low, space.high, space.shape, space.dtype
    middle, half = middle_and_half(space)

    def scale(action: Array) -> Array:
        found: Array = middle + half * action.reshape(-1, *shape)
        np.minimum(np.maximum(found, low, out=found), high, out=found)  # rounding may exceed bounds
        return found.astype(dtype, copy=False)  # float32 actions and float16 bounds give float32

    return scale


def unscaled(space: Any) -> Callable[[Array], Array]:
    """The inverse of `scaled`, from actions of a Box, [N, ...], to -1 to 1, float32 [N, D].

    Actions outside of the bounds give numbers outside of -1 to 1. A dimension whose bounds are
    equal gives 0 for its only action.

    Raises:
        PlanError: if a bound is infinite.
    """
    middle, half = (part.reshape(-1) for part in middle_and_half(space))
    width = divisor(half)

    def unscale(action: Array) -> Array:
        found: Array = (action.reshape(len(action), -1) - middle) / width
        return found.astype(np.float32, copy=False)

    return unscale


def middle_and_half(space: Any) -> tuple[Array, Array]:
    """The middle of a Box and half of its width, [*shape]: the range that -1 to 1 is scaled to.

    Raises:
        PlanError: if a bound is infinite.
    """
    low, high = space.low, space.high
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        from rlk.spaces import describe  # not at the top: it needs gymnasium

        raise PlanError(
            f"actions from -1 to 1 cannot be scaled to {describe(space)}: a bound is infinite. "
            f"Give the environment's action_space bounds (gymnasium.spaces.Box(-1.0, 1.0, "
            f"{space.shape})), or wrap the environment: gymnasium.wrappers.TransformAction(env, "
            "lambda action: action, BOX), where BOX has the bounds."
        )
    return low / 2 + high / 2, high / 2 - low / 2


def divisor(width: Array) -> Array:
    """The width of each dimension, or 1 where it is 0: there the only action is at the middle."""
    return np.where(width > 0, width, np.ones_like(width))
