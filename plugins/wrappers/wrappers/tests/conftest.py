"""A vector environment whose numbers can be computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rlk_testing.stand_ins import StandInVecEnv


class Counts(gym.Env[Any, Any]):
    """Observes 10 * episode + step, in an array of any shape; an episode has `length` steps.

    Args:
        shape: of observations. length: steps of an episode. reward: of every step.
        key: if not empty, observations are a Dict with that key and a goal.
    """

    def __init__(
        self,
        shape: tuple[int, ...] = (1,),
        length: int = 3,
        reward: float = 1.0,
        key: str = "",
        dtype: Any = np.float32,
    ) -> None:
        high = 255 if dtype is np.uint8 else 1000.0
        box = spaces.Box(0 if dtype is np.uint8 else 1.0, high, shape, dtype)
        goal = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.key = key
        self.observation_space = spaces.Dict({key: box, "desired_goal": goal}) if key else box
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.shape, self.length, self.reward, self.dtype = shape, length, reward, dtype
        self.episode = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.episode += 1
        self.steps = 0
        return self._shown(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._shown(), self.reward, False, self.steps >= self.length, {}

    def _shown(self) -> Any:
        shown = np.full(self.shape, 10 * self.episode + self.steps, self.dtype)
        return {self.key: shown, "desired_goal": np.zeros(1, np.float32)} if self.key else shown


@pytest.fixture
def counting() -> Callable[..., Any]:
    """A function that makes a vector of two such environments from their keywords."""

    def make(n: int = 2, **keywords: Any) -> Any:
        return StandInVecEnv([lambda: Counts(**keywords)] * n)

    return make
