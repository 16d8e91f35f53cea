"""Finds the keys of `info` that a goal environment's `compute_reward` reads."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_hindsight_replay.check import ACHIEVED, DESIRED
from rlk_hindsight_replay.rewards import method_of


class Asked(dict[str, Any]):
    """An info that records the keys that are read as `info[KEY]`, and returns 0 for them.

    `get` and `in` find nothing: keys that a reward reads only if they are there may be missing from
    some steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys_asked: list[str] = []

    def __missing__(self, key: str) -> float:
        self.keys_asked.append(key)
        return 0.0


def keys_asked(env: Any, goals: Any) -> list[str]:
    """The keys that an environment's `compute_reward` reads as `info[KEY]`, by a trial call.

    Args:
        env: a vector of the environment.
        goals: its observation space.
    """
    asked, spaces = Asked(), getattr(goals, "spaces", {})
    reward = method_of(env, "compute_reward", goals, ())
    if reward is None or not spaces.keys() >= {ACHIEVED, DESIRED}:
        return []  # planning refuses such an environment
    with contextlib.suppress(Exception):  # if 0 is no valid info, the error appears in training
        reward(_zeros(spaces[ACHIEVED]), _zeros(spaces[DESIRED]), asked)
    return sorted(set(asked.keys_asked))


def _zeros(space: Any) -> Array:
    return np.zeros(space.shape or (), space.dtype)
