"""A goal environment for rlk and its peers alike: a point is to be brought to a place."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

STEPS, NEAR = 50, 0.1


class Reach(gym.Env):
    """The reward is 0 near the place and -1 elsewhere; an episode has 50 steps."""

    def __init__(self, continuous: bool) -> None:
        place = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = gym.spaces.Dict(dict.fromkeys(keys, place))
        self.continuous = continuous
        self.action_space = place if continuous else gym.spaces.Discrete(4)
        self.moves = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        self.place, self.goal = self.np_random.uniform(-1.0, 1.0, (2, 2)).astype(np.float32)
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        move = action if self.continuous else self.moves[int(action)]
        self.place = np.clip(self.place + np.float32(0.1) * move, -1.0, 1.0).astype(np.float32)
        self.steps += 1
        reward = float(self.compute_reward(self.place, self.goal, {}))
        return self.seen(), reward, False, self.steps >= STEPS, {"is_success": reward == 0.0}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        far = np.square(achieved_goal - desired_goal).sum(-1) > NEAR**2
        return -far.astype(np.float32)

    def seen(self) -> dict[str, Any]:
        place = self.place.copy()
        return {"observation": place, "achieved_goal": place, "desired_goal": self.goal}


def discrete() -> Reach:
    """Four directions."""
    return Reach(continuous=False)


def continuous() -> Reach:
    """A velocity."""
    return Reach(continuous=True)
