"""Checks the result of one reset or step: in its space, finite, an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.finite import non_finite
from rlk_env_check.finding import Finding, error, warning

_STOPS = "a run would stop there, because it is no finite float32"


def of_observation(space: Any, found: Any, when: str) -> Iterator[Finding]:
    """Findings about an observation whose structure and shape are right.

    Args:
        space: its space.
        when: the call that returned it.
    """
    yield from _of_part(space, found, f"the observation of {when}")


def _of_part(space: Any, found: Any, where: str) -> Iterator[Finding]:
    if isinstance(space, spaces.Dict):
        extra = [key for key in found if key not in space.spaces]
        if extra:
            yield warning(
                f"{where} has keys that are not in its space: {extra}. They are dropped.",
                f"keys of {where}",
            )
        for key, part in space.spaces.items():
            yield from _of_part(part, found[key], f"{where}, key {key!r},")
    elif isinstance(space, spaces.Tuple):
        for index, part in enumerate(space.spaces):
            yield from _of_part(part, found[index], f"{where}, part {index},")
    elif isinstance(space, spaces.Box):
        yield from _of_box(space, found, where)


def _of_box(space: spaces.Box, found: Any, where: str) -> Iterator[Finding]:
    if not isinstance(found, np.ndarray):
        kind = type(found).__name__
        yield warning(
            f"{where} is a {kind}, not a numpy array: it is converted at every step.",
            f"type of {where}",
        )
    array = np.asarray(found)
    if array.dtype != space.dtype:
        yield warning(
            f"{where} is {array.dtype}, but its space is {space.dtype}: it is cast.",
            f"dtype of {where}",
        )
    bad = non_finite(array)
    if bad.any():
        yield error(
            f"{where} has {_first(array, bad)}: {_STOPS}. Correct "
            "the environment (--plugin check-nan says which action led there).",
            f"non-finite {where}",
        )
    outside = ((array < space.low) | (array > space.high)) & ~bad
    far = outside & ~_differs_by_rounding(array, np.clip(array, space.low, space.high))
    if outside.any():
        first = far if far.any() else outside
        index = tuple(int(i) for i in np.argwhere(first)[0])
        bounds = f"[{space.low[index]:g}, {space.high[index]:g}]"
        found_there = f"{where} has {_first(array, first)}, outside of its bounds {bounds}"
        if far.any():
            yield error(
                f"{found_there}. Correct the bounds, or clip observations.", f"bounds of {where}"
            )
        else:
            yield warning(
                f"{found_there} by a rounding error. Clip observations.", f"rounding of {where}"
            )


def _differs_by_rounding(array: Any, bound: Any) -> Any:
    """Whether each number is its bound up to the rounding of floats, bool [...]."""
    return np.isclose(array, bound) & (array.dtype.kind == "f")


def _first(array: Any, wrong: Any) -> str:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{array[index]} at {list(index)}"


def of_reward(reward: Any, when: str) -> Iterator[Finding]:
    """Findings about a reward that is one number."""
    if non_finite(np.asarray(float(reward))):
        yield error(f"the reward of {when} is {reward}: {_STOPS}. Correct it.", "non-finite reward")
    elif not isinstance(reward, (int, float, np.number, np.bool_)):
        kind = type(reward).__name__
        yield warning(f"the reward of {when} is a {kind}, not a float.", "type of reward")
