"""A small environment with gym's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


class Counting:
    """Observes the number of steps; an episode ends after `length`. It derives from no class."""

    def __init__(self, length: int = 3, truncated: bool = False, reward: Any = 1.0) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length, self.truncated, self.reward = length, truncated, reward
        self.seeds: list[int | None] = []
        self.steps = 0

    def seed(self, seed: int | None = None) -> list[int | None]:
        self.seeds.append(seed)
        return [seed]

    def reset(self) -> Any:
        self.steps = 0
        return np.array([0.0, 7.0], np.float32)

    def step(self, action: Any) -> Any:
        self.steps += 1
        done = self.steps == self.length
        info = {"steps": self.steps, "nested": {"action": int(np.sum(action))}}
        if done and self.truncated:
            info["TimeLimit.truncated"] = True
        return np.array([self.steps, 7.0], np.float32), self.reward, done, info

    def double(self, number: int) -> int:
        return 2 * number

    def render(self, mode: str = "human") -> Any:
        return np.full((4, 6, 3), self.steps, np.uint8)
