"""Spaces of the package gym as Gymnasium's, and spaces as a State that files hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import BadFile, PlanError

Space = spaces.Space[Any]


def as_gymnasium_space(space: Any, whose: str = "the environment's space") -> Space:
    """A space of Gymnasium: itself, or one that is made like a space of the package gym.

    Args:
        space: of either package.
        whose: what the error calls it.

    Raises:
        PlanError: for anything else.
    """
    if isinstance(space, spaces.Space):
        return space
    make = _LIKE.get(type(space).__name__)
    if make is None:
        raise PlanError(
            f"{whose} is {type(space).__name__}, no space. Set it to one of gymnasium.spaces (or "
            "rlk_baselines.gym.spaces): Box, Discrete, MultiDiscrete, MultiBinary, Dict, Tuple."
        )
    return make(space)


#: Class name -> a function that makes Gymnasium's space of one of gym's.
_LIKE: Mapping[str, Callable[[Any], Space]] = {
    "Box": lambda old: spaces.Box(old.low, old.high, dtype=old.dtype.type),
    "Discrete": lambda old: spaces.Discrete(int(old.n), start=int(getattr(old, "start", 0))),
    "MultiDiscrete": lambda old: spaces.MultiDiscrete(np.asarray(old.nvec)),
    "MultiBinary": lambda old: spaces.MultiBinary(old.n),
    "Dict": lambda old: spaces.Dict({k: as_gymnasium_space(v) for k, v in old.spaces.items()}),
    "Tuple": lambda old: spaces.Tuple([as_gymnasium_space(one) for one in old.spaces]),
}


def space_state(space: Space) -> dict[str, Any]:
    """What a file holds of a space, as JSON values and arrays; {} for one that none can hold."""
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
    """The space of which `space_state` gave this.

    Raises:
        BadFile: if it gave nothing like it.
    """
    try:
        return _MADE[state["kind"]](state)
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        raise BadFile(f"a saved space is damaged: {type(error).__name__}: {error}.") from None


_MADE: Mapping[str, Callable[[Any], Space]] = {
    "Box": lambda s: spaces.Box(s["low"], s["high"], dtype=s["low"].dtype.type),
    "Discrete": lambda s: spaces.Discrete(s["n"], start=s["start"]),
    "MultiDiscrete": lambda s: spaces.MultiDiscrete(s["nvec"], start=s["start"]),
    "MultiBinary": lambda s: spaces.MultiBinary(s["shape"] if s["shape"][1:] else s["shape"][0]),
    "Dict": lambda s: spaces.Dict({key: space_of(part) for key, part in s["parts"].items()}),
}
