"""An environment with unusual spaces and all kinds of infos, to test vector environments."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

ACTION_SPACES: dict[str, gym.Space[Any]] = {
    "discrete": spaces.Discrete(5, start=-1),
    "box": spaces.Box(-2.0, 2.0, (3,), np.float32),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "multi-binary": spaces.MultiBinary(4),
    "dict": spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1.0, 1.0, (2,), np.float64)),
    "tuple": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))),
}
OBSERVATION_SPACES: dict[str, gym.Space[Any]] = {
    "box": spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "scalar box": spaces.Box(-np.inf, np.inf, (), np.float32),
    "image": spaces.Box(0, 255, (12, 10, 3), np.uint8),
    "discrete": spaces.Discrete(7),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "dict": spaces.Dict(
        image=spaces.Box(0, 255, (4, 4, 1), np.uint8),
        inner=spaces.Dict(flags=spaces.MultiBinary(3), phase=spaces.Discrete(4)),
        pair=spaces.Tuple((spaces.Box(-1.0, 1.0, (2,), np.float32), spaces.Discrete(2))),
    ),
}


class Everything(gym.Env[Any, Any]):
    """Observations are samples of the space; the reward is the sum of the action and the time."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self, observation: str = "box", action: str = "discrete", render_mode: str | None = None
    ) -> None:
        # Copies: environments in several threads must not draw from one generator.
        self.observation_space = deepcopy(OBSERVATION_SPACES[observation])
        self.action_space = deepcopy(ACTION_SPACES[action])
        self.render_mode = render_mode
        self.seeds: list[int | None] = []
        self.options: list[dict[str, Any] | None] = []
        self.kept: list[Any] = []
        self.was_closed = False
        self.time = self.calls = 0

    def _observe(self) -> Any:
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "time": self.time,
            "speed": float(self.np_random.random()),
            "word": "odd" if self.time % 2 else "even",
            "vector": self.np_random.random(3).astype(np.float32),
            "nested": {"flag": bool(self.time % 3), "deeper": {"count": np.int16(self.time)}},
            "none": None,
        }
        if self.np_random.random() < 0.4:
            info["sometimes"] = self.time
        return info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.options.append(options)
        self.time = 0
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        self.kept.append(action)
        self.time += 1
        told = sum(float(np.sum(part)) for part in _parts(action))
        over, cut = self.np_random.random(2) < 0.15
        return self._observe(), told + self.time, bool(over), bool(cut), self._info()

    def render(self) -> Any:
        return np.full((2, 2, 3), self.time, np.uint8)

    def count(self) -> int:
        self.calls += 1
        return self.calls

    def add(self, number: int, times: int = 1) -> int:
        return self.time + number * times

    def close(self) -> None:
        self.was_closed = True


def _parts(action: Any) -> list[Any]:
    if isinstance(action, dict):
        return list(action.values())
    return list(action) if isinstance(action, tuple) else [action]


def play(vector: Any, steps: int, seed: int = 5) -> list[Any]:
    """Copies of all that a vector environment returns for random actions."""
    vector.action_space.seed(seed)
    seen = [deepcopy(vector.reset(seed=seed))]
    for _ in range(steps):
        seen.append(deepcopy(vector.step(vector.action_space.sample())))
    return seen
