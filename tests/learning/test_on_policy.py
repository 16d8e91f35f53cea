"""What the on-policy algorithms must reach with their presets: `pytest -m learning tests/learning`.

These are absolute returns, of the last model of every seed; `-m presets` compares all presets with
nine tenths of their sources.
"""

from __future__ import annotations

import pytest
from presets.training import after_preset

EVERY = ("a2c", "acer", "acktr", "ppo", "ppo1", "ppo2", "trpo")
TARGETS = [
    *((algo, "CartPole-v1", 495.0) for algo in EVERY),
    *((algo, "Acrobot-v1", -90.0) for algo in ("a2c", "acer", "acktr", "ppo")),
    *((algo, "LunarLander-v3", 180.0) for algo in ("acer", "acktr", "ppo", "ppo2")),
    *((algo, "MountainCarContinuous-v0", 90.0) for algo in ("a2c", "acktr", "ppo2")),
    *((algo, "Pendulum-v1", -250.0) for algo in ("ppo", "trpo")),
]


@pytest.mark.learning
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("algo", "env", "least"), TARGETS)
def test_it_reaches_the_return_of_its_target(algo: str, env: str, least: float, seed: int) -> None:
    assert after_preset(algo, env, seed) >= least


@pytest.mark.learning
@pytest.mark.timeout(4 * 3600)
def test_ppo_with_state_dependent_exploration_runs_half_cheetah() -> None:
    """Stable-Baselines3's documentation has 2826 ± 45, the mean of six seeds."""
    pytest.importorskip("pybullet_envs_gymnasium", reason="PyBullet is an extra")
    assert after_preset("ppo", "HalfCheetahBulletEnv-v0", 1) >= 0.9 * 2826
