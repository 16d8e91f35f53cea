"""Imitation of trained experts. `pytest -m learning tests/learning`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk
from rlk_evaluate.evaluate import evaluate_agent
from rlk_expert_data import generate_expert_traj, read

pytestmark = pytest.mark.learning
EPISODES = 10


def mean_return(agent: rlk.Agent) -> float:
    """Of 100 deterministic episodes."""
    return evaluate_agent(agent, 100, n_envs=10, seed=100).mean_return


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten episodes of a trained expert."""
    path = tmp_path_factory.mktemp("cartpole") / "expert.npz"
    with rlk.make("ppo2", env="CartPole-v1", preset="zoo", seed=1) as agent:
        agent.learn()
        generate_expert_traj(agent, path, "CartPole-v1", n_episodes=EPISODES)
    assert read(path).returns.mean() >= 475
    return path


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """Ten episodes of a trained expert, and its return in many more."""
    path = tmp_path_factory.mktemp("pendulum") / "expert.npz"
    with rlk.make("sac", env="Pendulum-v1", preset="zoo", seed=1) as agent:
        agent.learn()
        generate_expert_traj(agent, path, "Pendulum-v1", n_episodes=EPISODES)
        return path, mean_return(agent)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clone_of_ten_episodes_balances_the_pole(cartpole: Path, seed: int) -> None:
    settings: dict[str, Any] = {"learning_rate": 1e-3, "expert_path": str(cartpole)}
    with rlk.make("bc", env="CartPole-v1", seed=seed, **settings) as agent:
        agent.learn(350_000)  # a hundred epochs of 3,500 transitions
        assert mean_return(agent) >= 475


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gail_comes_within_a_tenth_of_the_experts_return(
    pendulum: tuple[Path, float], seed: int
) -> None:
    path, best = pendulum
    settings: dict[str, Any] = {"expert_path": str(path), "n_envs": 4}
    with rlk.make("gail", env="Pendulum-v1", seed=seed, **settings) as agent:
        agent.learn(1_000_000)
        assert mean_return(agent) >= best - 0.1 * np.abs(best)
