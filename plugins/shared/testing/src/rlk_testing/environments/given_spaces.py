"""Environments with a given observation space, and observations, for tests of policies."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

SEEN = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
SPACES: dict[str, spaces.Space[Any]] = {
    "Discrete": spaces.Discrete(4),
    "Discrete from 2 on": spaces.Discrete(4, start=2),
    "Box": spaces.Box(-0.5, 2, (2,)),
    "Box of several axes": spaces.Box(-0.5, 2, (2, 2)),
    "MultiDiscrete": spaces.MultiDiscrete([3, 2], start=[1, 0]),
    "MultiBinary": spaces.MultiBinary(3),
}
PICTURE = spaces.Box(0, 255, (40, 44, 2), np.uint8)
BOTH = spaces.Dict({"seen": PICTURE, "speed": spaces.Box(-5, 5, (3,))})
NESTED = [
    spaces.Tuple([spaces.Discrete(3), spaces.Box(-1, 1, (2,))]),
    spaces.Dict({"arm": spaces.Dict(angle=spaces.Box(-1, 1, (2,))), "goal": spaces.Discrete(3)}),
]
#: A PPO of Stable-Baselines3 that is quick to make and train.
SMALL: dict[str, Any] = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, "seed": 0}


class Given(gymnasium.Env[Any, Any]):
    """Returns random observations of a space, and takes actions of a space; episodes of 4 steps."""

    def __init__(self, action_space: Any = None, observation_space: Any = None) -> None:
        self.observation_space = observation_space or spaces.Box(-5, 5, (3,))
        self.action_space = action_space or spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 4, False, {}


def close(one: Any, other: Any) -> None:
    """Both are equal, up to what sums in another order may change."""
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
