"""The kernel's contract of an algorithm, with an expert for every environment of the suite."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk_testing import AlgorithmContract
from rlk_testing.environments import environment_named


def save_expert(path: Path, env: Any) -> None:
    """Sixty-four transitions: right where actions are Discrete, else any."""
    seen, done = [], []
    env.reset(seed=0), env.action_space.seed(0)
    for _ in range(64):
        seen.append(env.reset()[0])
        known = isinstance(env.action_space, spaces.Discrete)
        done.append(1 + int(seen[-1].argmax()) if known else env.action_space.sample())
    starts, returns = np.arange(64) % 8 == 0, np.zeros(8)
    actions = np.array(done).reshape(64, -1)
    np.savez(path, obs=seen, actions=actions, episode_starts=starts, episode_returns=returns)


class TestBC(AlgorithmContract):
    component = "bc"
    settings = {"batch_size": 16, "learning_rate": 1e-2}
    learns = {"total_timesteps": 44 * 40}
    folder: Path

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _folder(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.folder = tmp_path_factory.mktemp("experts")

    @contextlib.contextmanager
    def agent(self, **settings: Any) -> Iterator[rlk.Agent]:
        name = settings.get("env", self.environments()[0])
        path = self.folder / f"{name.rpartition(':')[2]}.npz"
        if not path.exists():
            save_expert(path, environment_named(name)())
        with super().agent(expert_path=str(path), **settings) as agent:
            yield agent
