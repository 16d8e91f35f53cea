"""Converts spaces to data for a file, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gymnasium import spaces

from rlk.errors import BadFile
from rlk.spaces import flat_space
from rlk_old_gym.spaces import as_gymnasium_space

Space = spaces.Space[Any]


def space_state(space: Space) -> dict[str, Any]:
    """A space as JSON values and arrays, for a file; {} for a kind that cannot be saved."""
    if isinstance(space, spaces.Box):
        return {"kind": "Box", "low": space.low, "high": space.high}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"kind": "MultiDiscrete", "nvec": space.nvec, "start": space.start}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "shape": [int(size) for size in space.shape]}
    if isinstance(space, spaces.Dict):
        parts = {key: space_state(part) for key, part in space.spaces.items()}
        return {"kind": "Dict", "parts": parts}
    return {}


def space_of(state: Any) -> Space:
    """The space that `space_state` converted to this state.

    Raises:
        BadFile: if the state is damaged.
    """
    try:
        return _MADE[state["kind"]](state)
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        raise BadFile(f"a saved space is damaged: {type(error).__name__}: {error}.") from None


def planned_spaces(vector: Any) -> tuple[Space, Space]:
    """The spaces of observations and actions that rlk plans with for a vector: plain and flat."""
    observation, action = vector.observation_space, vector.action_space
    return flat_space(as_gymnasium_space(observation)), as_gymnasium_space(action)


def as_in_a_file(space: Space) -> Space:
    """A space that is equal to what a file would hold; one that no file can hold, as it is."""
    try:
        return space_of(space_state(space))
    except BadFile:
        return space


def spaces_in_a_file(vector: Any) -> tuple[Space, Space]:
    """The planned spaces of a vector, as a file of a model that learns from it would hold them."""
    observation, action = planned_spaces(vector)
    return as_in_a_file(observation), as_in_a_file(action)


_MADE: Mapping[str, Callable[[Any], Space]] = {
    "Box": lambda s: spaces.Box(s["low"], s["high"], dtype=s["low"].dtype.type),
    "Discrete": lambda s: spaces.Discrete(s["n"], start=s["start"]),
    "MultiDiscrete": lambda s: spaces.MultiDiscrete(s["nvec"], start=s["start"]),
    "MultiBinary": lambda s: spaces.MultiBinary(s["shape"] if s["shape"][1:] else s["shape"][0]),
    "Dict": lambda s: spaces.Dict({key: space_of(part) for key, part in s["parts"].items()}),
}
