"""Environments and vectors that programs for Stable-Baselines3 define themselves."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines.sb3 import PPO
from rlk_baselines.sb3.common.env_util import make_vec_env
from rlk_baselines.sb3.common.evaluation import evaluate_policy
from rlk_baselines.sb3.common.vec_env import DummyVecEnv, VecMonitor

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}


class Six(gymnasium.Env[Any, Any]):
    """Its episodes end after six steps; its `reset` takes a seed, but no options.

    Args:
        limit: a number of steps after which episodes are truncated.
    """

    observation_space = spaces.Box(0, 6, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self, limit: int = 9) -> None:
        self.limit = limit

    def reset(self, seed: int | None = None) -> Any:  # type: ignore[override]
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return np.full(2, self.t, np.float32), 1.0, self.t == 6, self.t == self.limit, {}


def test_reset_of_an_environment_needs_to_take_no_options() -> None:
    model = PPO("MlpPolicy", Six(), seed=0, **SMALL).learn(16)
    assert evaluate_policy(model, Six(), n_eval_episodes=2) == (6.0, 0.0)
    assert make_vec_env(Six, n_envs=2, seed=0).reset().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("wrap", [DummyVecEnv, lambda made: VecMonitor(DummyVecEnv(made))])
def test_callbacks_see_how_an_episode_ended(wrap: Any) -> None:
    seen: list[tuple[Any, ...]] = []

    def see(variables: dict[str, Any], _: Any) -> None:
        for done, info in zip(variables["dones"], variables["infos"], strict=True):
            if done:
                last = info["terminal_observation"].tolist()
                seen.append((info["TimeLimit.truncated"], last))

    vector = wrap([Six, lambda: Six(limit=4)])
    PPO("MlpPolicy", vector, n_steps=6, batch_size=12).learn(12, callback=see)
    assert seen == [(True, [4, 4]), (False, [6, 6])]
