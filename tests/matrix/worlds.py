"""One small environment for every pair of an observation space and an action space."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


def _box(size: int) -> spaces.Box:
    return spaces.Box(-2.0, 2.0, (size,), np.float32)


#: Keys of a goal environment's observations.
GOAL_KEYS = ("observation", "achieved_goal", "desired_goal")
#: By the names that `product.py` gives them; fresh ones, for a space has a generator of its own.
OBSERVATIONS = {
    "Box": lambda: _box(4),
    "Image": lambda: spaces.Box(0, 255, (36, 36, 1), np.uint8),
    "Discrete": lambda: spaces.Discrete(5),
    "MultiDiscrete": lambda: spaces.MultiDiscrete([3, 4]),
    "MultiBinary": lambda: spaces.MultiBinary(6),
    "Dict": lambda: spaces.Dict({"place": _box(4), "room": spaces.Discrete(5)}),
    "Goals": lambda: spaces.Dict(
        {"observation": _box(4), "achieved_goal": _box(2), "desired_goal": _box(2)}
    ),
}
ACTIONS = {
    "Discrete": lambda: spaces.Discrete(3),
    "Box": lambda: spaces.Box(-1.0, 1.0, (2,), np.float32),
    "MultiDiscrete": lambda: spaces.MultiDiscrete([2, 3]),
    "MultiBinary": lambda: spaces.MultiBinary(3),
}


class World(gym.Env[Any, Any]):
    """Random observations; episodes end by chance, or are truncated after nine steps."""

    def __init__(self, observation: str = "Box", action: str = "Discrete") -> None:
        self.observation_space: Any = OBSERVATIONS[observation]()
        self.action_space: Any = ACTIONS[action]()
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(self.observation_space), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is not in {self.action_space}")
        self.steps += 1
        observation = self._show(self.observation_space)
        if "desired_goal" in getattr(self.observation_space, "spaces", ()):
            goals = observation["achieved_goal"], observation["desired_goal"]
            reward = float(self.compute_reward(*goals, {}))
        else:
            reward = float(np.sum(action)) + float(self.np_random.normal())
        ended = bool(self.np_random.random() < 0.1)
        return observation, reward, ended, not ended and self.steps >= 9, {}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return -np.abs(achieved_goal - desired_goal).sum(-1)

    def _show(self, space: Any) -> Any:
        random = self.np_random
        if isinstance(space, spaces.Dict):
            return {key: self._show(part) for key, part in space.spaces.items()}
        if isinstance(space, spaces.Discrete):
            return np.int64(random.integers(space.n))
        if isinstance(space, spaces.MultiDiscrete):
            return random.integers(space.nvec)
        if isinstance(space, spaces.MultiBinary):
            return random.integers(0, 2, space.n).astype(np.int8)
        if space.dtype == np.uint8:
            return random.integers(0, 256, space.shape).astype(np.uint8)
        return random.uniform(space.low, space.high).astype(np.float32)


class Strained(gym.Env[Any, Any]):
    """The reward depends on an info, the distance of the place, which goals do not determine."""

    def __init__(self) -> None:
        place = gym.spaces.Box(-99.0, 99.0, (1,), np.float32)
        self.observation_space = gym.spaces.Dict(dict.fromkeys(GOAL_KEYS, place))
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=1).astype(np.float32)
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.place = self.place + self.np_random.normal(size=1).astype(np.float32)
        info = {"strain": abs(float(self.place[0]))}
        reward = self.compute_reward(self.place, np.ones(1, np.float32), info)
        return self._seen(), float(reward), bool(self.np_random.random() < 0.2), False, info

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return -np.abs(achieved_goal - desired_goal).sum(-1) - info["strain"]

    def _seen(self) -> dict[str, Any]:
        goal = np.ones(1, np.float32)
        return {"observation": self.place, "achieved_goal": self.place, "desired_goal": goal}
