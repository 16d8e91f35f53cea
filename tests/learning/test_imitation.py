"""Imitation of trained experts. `pytest -m learning tests/learning`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk_evaluation.evaluate import evaluate_agent
from rlk_expert_data import generate_expert_traj, read

pytestmark = [pytest.mark.learning, pytest.mark.timeout(3600)]
#: Of the expert: for a clone, and for GAIL, whose discriminator learns ten by heart.
EPISODES, MANY_EPISODES = 10, 50
#: GAIL with a discriminator that learns faster than the policy; the README of rlk-gail has them.
SETTINGS: dict[str, Any] = {
    "model": "ppo2",
    "distribution": "squashed-gaussian",
    "n_envs": 8,
    "n_steps": 256,
    "nminibatches": 8,
    "noptepochs": 10,
    "learning_rate": "lin_1e-3",
    "ent_coef": 0.0,
    "gamma": 0.9,
    "g_step": 1,
    "d_step": 64,
    "d_stepsize": "lin_1e-3",
}


def mean_return(agent: rlk.Agent) -> float:
    """Of 100 deterministic episodes."""
    return evaluate_agent(agent, 100, n_envs=10, seed=100).mean_return


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten episodes of a trained expert."""
    path = tmp_path_factory.mktemp("cartpole") / "expert.npz"
    with rlk.make("ppo2", env="CartPole-v1", preset="zoo", seed=1, n_threads=1) as agent:
        agent.learn()
        generate_expert_traj(agent, path, "CartPole-v1", n_episodes=EPISODES, seed=0)
    assert read(path).returns.mean() >= 475
    return path


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """Episodes of a trained expert, with the noise of its policy, and its return without."""
    path = tmp_path_factory.mktemp("pendulum") / "expert.npz"
    with rlk.make("sac", env="Pendulum-v1", preset="zoo", seed=1, n_threads=1) as agent:
        agent.learn()
        noisy = {"deterministic": False, "n_episodes": MANY_EPISODES, "seed": 0}
        generate_expert_traj(agent, path, "Pendulum-v1", **noisy)
        expert = mean_return(agent)
    assert expert >= -160
    return path, expert


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clone_of_ten_episodes_balances_the_pole(cartpole: Path, seed: int) -> None:
    settings: dict[str, Any] = {"learning_rate": 1e-3, "expert_path": str(cartpole)}
    with rlk.make("bc", env="CartPole-v1", seed=seed, n_threads=1, **settings) as agent:
        agent.learn(70_000)  # twenty epochs of 3,500 transitions
        assert mean_return(agent) >= 475


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gail_comes_within_a_tenth_of_the_experts_return(
    pendulum: tuple[Path, float], seed: int
) -> None:
    """Hanging gives -1,200, and the expert -139; no reward of the environment is learnt from."""
    path, expert = pendulum
    given: dict[str, Any] = {**SETTINGS, "expert_path": str(path), "n_threads": 1}
    with rlk.make("gail", env="Pendulum-v1", preset="none", seed=seed, **given) as agent:
        agent.learn(800_000)
        assert mean_return(agent) >= expert - 0.1 * abs(expert)
