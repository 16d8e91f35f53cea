"""An environment of one state, whose value shows whether time limits are bootstrapped."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_testing.environments.match import Result


class Forever(gym.Env[Any, Any]):
    """One state, and a reward of 1 for every step; episodes are truncated after `length` steps.

    The value of the state is 1 / (1 - gamma); without bootstrapping at time limits it comes out
    lower.

    Args:
        ends: whether episodes are terminated after `length` steps instead of truncated.
    """

    def __init__(self, length: int = 2, ends: bool = False) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length, self.ends, self.steps = length, ends, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return np.ones(1, np.float32), {}

    def step(self, action: Any) -> Result:
        self.steps += 1
        over = self.steps >= self.length
        return np.ones(1, np.float32), 1.0, over and self.ends, over and not self.ends, {}
