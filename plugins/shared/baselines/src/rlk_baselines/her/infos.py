"""Which infos the rewards of a goal environment need: those that `compute_reward` asks for."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_hindsight_replay.check import ACHIEVED, DESIRED
from rlk_hindsight_replay.rewards import method_of


class Asked(dict[str, Any]):
    """An info that notes what it is asked for as `info[KEY]`, and gives 0 for it.

    `get` and `in` find nothing: what a reward can do without may be missing from some steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys_asked: list[str] = []

    def __missing__(self, key: str) -> float:
        self.keys_asked.append(key)
        return 0.0


def keys_asked(env: Any, goals: Any) -> list[str]:
    """The keys that an environment's `compute_reward` reads as `info[KEY]`, tried on two goals.

    Args:
        env: a vector of the environment.
        goals: the space of its observations.
    """
    asked, spaces = Asked(), getattr(goals, "spaces", {})
    reward = method_of(env, "compute_reward", goals, ())
    if reward is None or not spaces.keys() >= {ACHIEVED, DESIRED}:
        return []  # which is refused where the run is planned
    with contextlib.suppress(Exception):  # where a 0 is no such info, learning says what fails
        reward(_zeros(spaces[ACHIEVED]), _zeros(spaces[DESIRED]), asked)
    return sorted(set(asked.keys_asked))


def _zeros(space: Any) -> Array:
    return np.zeros(space.shape or (), space.dtype)
