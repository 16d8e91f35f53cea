"""Converts spaces of the package gym to Gymnasium's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError

Space = spaces.Space[Any]


def as_gymnasium_space(space: Any, whose: str = "the environment's space") -> Space:
    """A space of Gymnasium: the given one, or one that is equal to a space of the package gym.

    A space of a class that is derived from one of Gymnasium's becomes a space of that class, by
    which rlk's components know it.

    Args:
        space: of either package.
        whose: the name of the space in the error message.

    Raises:
        PlanError: for anything that is not a space.
    """
    if isinstance(space, spaces.Space):
        return _plain(space)
    make = _LIKE.get(type(space).__name__)
    if make is None:
        raise PlanError(
            f"{whose} is {type(space).__name__}, no space. Set it to one of gymnasium.spaces: "
            "Box, Discrete, MultiDiscrete, MultiBinary, Dict, Tuple."
        )
    return make(space)


def _plain(space: Space) -> Space:
    """The space itself, or one of Gymnasium's class if its own class is derived from that."""
    if isinstance(space, spaces.Dict):
        parts = {key: _plain(part) for key, part in space.spaces.items()}
        is_new = any(parts[key] is not part for key, part in space.spaces.items())
        return spaces.Dict(parts) if is_new else space
    for base in (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary):
        if isinstance(space, base) and type(space) is not base:
            plain = copy.copy(space)
            plain.__class__ = base
            return plain
    return space


#: Class name -> a function that makes Gymnasium's space from one of gym's.
_LIKE: Mapping[str, Callable[[Any], Space]] = {
    "Box": lambda old: spaces.Box(old.low, old.high, dtype=old.dtype.type),
    "Discrete": lambda old: spaces.Discrete(int(old.n), start=int(getattr(old, "start", 0))),
    "MultiDiscrete": lambda old: spaces.MultiDiscrete(np.asarray(old.nvec)),
    "MultiBinary": lambda old: spaces.MultiBinary(old.n),
    "Dict": lambda old: spaces.Dict({k: as_gymnasium_space(v) for k, v in old.spaces.items()}),
    "Tuple": lambda old: spaces.Tuple([as_gymnasium_space(one) for one in old.spaces]),
}
