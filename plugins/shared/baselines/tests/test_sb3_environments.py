"""Environments and vectors that programs for Stable-Baselines3 define themselves."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk_baselines.sb3 import PPO
from rlk_baselines.sb3.common.env_util import make_vec_env
from rlk_baselines.sb3.common.evaluation import evaluate_policy

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}


class Six(gymnasium.Env[Any, Any]):
    """Its episodes have six steps; its `reset` takes a seed, but no options."""

    observation_space = spaces.Box(-1, 1, (2,))
    action_space = spaces.Discrete(2)

    def reset(self, seed: int | None = None) -> Any:  # type: ignore[override]
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return np.zeros(2, np.float32), 1.0, self.t == 6, False, {}


def test_reset_of_an_environment_needs_to_take_no_options() -> None:
    model = PPO("MlpPolicy", Six(), seed=0, **SMALL).learn(16)
    assert evaluate_policy(model, Six(), n_eval_episodes=2) == (6.0, 0.0)
    assert make_vec_env(Six, n_envs=2, seed=0).reset().tolist() == [[0, 0], [0, 0]]
