"""Which observations an agent acts on: finite numbers, and images as an environment makes them.

A policy would act on others as well, but not as it was trained. Dimensions: B observations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.finite import finite, first_non_finite
from rlk.records import Array
from rlk.spaces import Space, is_image

if TYPE_CHECKING:
    from rlk.running.run import Run

Check = Callable[[Any], None]


def observation_check(run: Run) -> Check:
    """A function that raises ValueError for observations [B, ...] that a run does not act on.

    It is made once, because to look through the bounds of a space takes longer than to act.
    """
    space = run.plan.observation_space
    of_space = _of_dict(space) if isinstance(space, spaces.Dict) else _of_part("observation", space)
    of_plugins = run.hooks.all("rlk_check_observation", run=run)
    if not of_plugins:
        return of_space

    def check(observation: Any) -> None:
        for one in (of_space, *of_plugins):
            one(observation)

    return check


def _of_dict(space: spaces.Dict) -> Check:
    parts = [(key, _of_part(key, part)) for key, part in space.spaces.items()]

    def check(observation: Any) -> None:
        for key, one in parts:
            one(observation[key])

    return check


def _of_part(name: str, space: Space) -> Check:
    """The check of arrays [B, ...] of a space that is no Dict; the name is that in messages."""
    if is_image(space):
        return partial(_refuse_no_image, name)
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return partial(_refuse_non_finite, name)
    return lambda array: None


def _refuse_non_finite(name: str, array: Array) -> None:
    """ValueError for NaN, infinity, and what is infinite as a float32."""
    if array.dtype.kind not in "biuf":  # Python's objects, or texts
        array = array.astype(np.float64)
    if not finite(array):
        found = first_non_finite({name: array})
        assert found is not None
        row, text = found
        raise ValueError(f"this agent takes finite observations, got {text} (row {row})")


def _refuse_no_image(name: str, array: Array) -> None:
    """ValueError unless all are whole numbers from 0 to 255, of whatever dtype."""
    if array.dtype == np.uint8:
        return
    with np.errstate(invalid="ignore"):  # NaN is not equal to what it becomes
        pixels = array.astype(np.uint8)
    if not (pixels == array).all():
        raise ValueError(
            "this agent takes images of whole numbers from 0 to 255, which it scales itself, got "
            f"{array.dtype} from {array.min()} to {array.max()} in {name}"
        )
