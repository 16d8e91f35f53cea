"""The one-dimensional part of an observation: all of it, or one key of a Dict."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe

#: The key of a goal environment's observations that is not a goal.
KEY = "observation"


def main_box(space: Any, title: str) -> spaces.Box:
    """The Box of that part.

    Raises:
        PlanError: if there is none; its message begins with `title`.
    """
    found = space.spaces.get(KEY) if isinstance(space, spaces.Dict) else space
    if isinstance(found, spaces.Box) and len(found.shape) == 1:
        return found
    raise PlanError(
        f"{title} takes observations that are a Box of one axis, or a Dict with such a Box under "
        f"{KEY!r}, but they are {describe(space)}. Leave it out, or wrap the environment "
        "(gymnasium.wrappers.FlattenObservation)."
    )


def main_of(observation: Any) -> Array:
    """That part of one observation, or of a batch of observations."""
    return observation[KEY] if isinstance(observation, dict) else observation


def with_main(whole: Any, part: Any) -> Any:
    """An observation (or the space of one) in which this part is replaced."""
    if isinstance(whole, spaces.Dict):
        return spaces.Dict({**whole.spaces, KEY: part})
    return {**whole, KEY: part} if isinstance(whole, dict) else part
