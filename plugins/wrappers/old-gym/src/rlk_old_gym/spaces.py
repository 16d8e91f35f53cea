"""Converts spaces of the package gym to Gymnasium's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.spaces import plain_space

Space = spaces.Space[Any]


def as_gymnasium_space(space: Any, whose: str = "the environment's space") -> Space:
    """A space of Gymnasium: the given one, or one that is equal to a space of the package gym.

    A space of a class that is derived from one of either package becomes plain (`plain_space`).

    Args:
        space: of either package.
        whose: the name of the space in the error message.

    Raises:
        PlanError: for anything that is not a space.
    """
    if isinstance(space, spaces.Space):
        return plain_space(space)
    names = (one.__name__ for one in type(space).__mro__)
    make = next((_LIKE[name] for name in names if name in _LIKE), None)
    if make is None:
        raise PlanError(
            f"{whose} is {type(space).__name__}, no space. Set it to one of gymnasium.spaces: "
            "Box, Discrete, MultiDiscrete, MultiBinary, Dict, Tuple."
        )
    return make(space)


#: Class name -> a function that makes Gymnasium's space from one of gym's.
_LIKE: Mapping[str, Callable[[Any], Space]] = {
    "Box": lambda old: spaces.Box(old.low, old.high, dtype=old.dtype.type),
    "Discrete": lambda old: spaces.Discrete(int(old.n), start=int(getattr(old, "start", 0))),
    "MultiDiscrete": lambda old: spaces.MultiDiscrete(np.asarray(old.nvec)),
    "MultiBinary": lambda old: spaces.MultiBinary(old.n),
    "Dict": lambda old: spaces.Dict({k: as_gymnasium_space(v) for k, v in old.spaces.items()}),
    "Tuple": lambda old: spaces.Tuple([as_gymnasium_space(one) for one in old.spaces]),
}
