"""What the off-policy algorithms must reach with presets: `pytest -m learning tests/learning`.

These are absolute returns, of the last model of every seed; `-m presets` compares all presets with
nine tenths of their sources.
"""

from __future__ import annotations

import pytest
from presets.training import after_preset

TARGETS = [
    *((algo, "Pendulum-v1", -170.0) for algo in ("ddpg", "sac", "td3")),
    *((algo, "MountainCarContinuous-v0", 90.0) for algo in ("ddpg", "sac")),
    ("dqn", "MountainCar-v0", -115.0),
    ("dqn", "Acrobot-v1", -85.0),
    *((algo, "LunarLanderContinuous-v3", 240.0) for algo in ("sac", "td3")),
]
#: The mean of three agents in the documentation of Stable-Baselines3.
HALF_CHEETAH = [("sac", 2984.0), ("td3", 2774.0)]


@pytest.mark.learning
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("algo", "env", "least"), TARGETS)
def test_it_reaches_the_return_of_its_target(algo: str, env: str, least: float, seed: int) -> None:
    assert after_preset(algo, env, seed) >= least


@pytest.mark.learning
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(1, 10))
def test_the_last_model_of_dqn_balances_the_pole_without_priorities(seed: int) -> None:
    assert after_preset("dqn", "CartPole-v1", seed) >= 495.0


@pytest.mark.learning
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sac_parks_by_hindsight(seed: int) -> None:
    pytest.importorskip("highway_env", reason="highway-env is an extra")
    assert after_preset("sac", "parking-v0", seed) >= 0.8


@pytest.mark.learning
@pytest.mark.timeout(12 * 3600)
@pytest.mark.parametrize(("algo", "source"), HALF_CHEETAH)
def test_half_cheetah_runs_as_fast_as_in_the_source(algo: str, source: float) -> None:
    pytest.importorskip("pybullet_envs_gymnasium", reason="PyBullet is an extra")
    assert after_preset(algo, "HalfCheetahBulletEnv-v0", 1) >= 0.9 * source
