"""Random actions, among those that the environment allows.

An environment with a method `action_masks()` may raise for any other action. Its masks have the
layout of sb3-contrib: the options of all choices of an action, one choice after the other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.spaces import choices_of

METHOD = "action_masks"
_COUNTED = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def has_masks(env: gym.Env[Any, Any]) -> bool:
    """Whether the environment says which of its actions are allowed."""
    return isinstance(env.action_space, _COUNTED) and env.has_wrapper_attr(METHOD)


def sampled(env: gym.Env[Any, Any]) -> Any:
    """An action, drawn by the generator of the action space.

    Raises:
        ValueError: for a mask of another length, or one that allows nothing.
    """
    space: Any = env.action_space
    if not has_masks(env):
        return space.sample()
    sizes, first = choices_of(space)
    mask = np.asarray(env.get_wrapper_attr(METHOD)(), dtype=bool).reshape(-1)
    if len(mask) != sum(sizes):
        raise ValueError(f"{METHOD}() has {len(mask)} numbers, but there are {sum(sizes)} options")
    drawn = []
    for start, stop in pairwise(np.cumsum([0, *sizes])):
        allowed = np.flatnonzero(mask[start:stop])
        if not len(allowed):
            raise ValueError(f"{METHOD}() allows none of the options {start} to {stop - 1}")
        drawn.append(allowed[space.np_random.integers(len(allowed))])
    return (np.asarray(drawn) + first).astype(space.dtype).reshape(space.shape)[()]
