"""Random walks whose every transition is remembered, to compare a replay with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk.spaces import map_observation
from rlk_testing.environments import Walk


class Truth(NamedTuple):
    """One transition of a recording; `last` if it is the last one of its episode."""

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    last: bool


class Recorded(gym.Wrapper[Any, Any, Any, Any]):
    """Remembers every transition."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.truth: list[Truth] = []

    def reset(self, **keywords: Any) -> Any:
        self.seen, info = self.env.reset(**keywords)
        return self.seen, info

    def step(self, action: Any) -> Any:
        following, reward, terminated, truncated, info = self.env.step(action)
        over = terminated or truncated
        self.truth.append(
            Truth(self.seen, action, float(reward), following, bool(terminated), over)
        )
        self.seen = following
        return following, reward, terminated, truncated, info


def stacked() -> gym.Env[Any, Any]:
    return gym.wrappers.FrameStackObservation(Walk(observation="image"), 3)


#: Environments by what they show or take.
WORLDS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "array": Walk,
    "dict": lambda: Walk(observation="dict"),
    "image": lambda: Walk(observation="image"),
    "stacked": stacked,
    "continuous": lambda: gym.wrappers.RescaleAction(
        Walk(continuous=True), np.float32([-3.0, 0.0]), np.float32([1.0, 5.0])
    ),
}


def same(one: Any, other: Any) -> bool:
    """Whether two observations are equal in the dtype that a replay keeps."""
    if isinstance(other, dict):
        return all(np.array_equal(one[key], other[key]) for key in other)
    return np.array_equal(one, other)


def at(observations: Any, *index: int) -> Any:
    """One of several observations."""
    return map_observation(lambda part: part[index], observations)
