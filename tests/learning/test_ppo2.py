"""What PPO2 must reach with its presets: run with `pytest -m learning tests/learning`."""

from __future__ import annotations

import pytest

import rlk
from rlk_testing import mean_return

TARGETS = [("MountainCarContinuous-v0", 90.0), ("LunarLander-v3", 180.0)]


@pytest.mark.learning
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("env", "least"), TARGETS)
def test_it_reaches_the_return_of_its_target(env: str, least: float, seed: int) -> None:
    with rlk.make("ppo2", env=env, preset="zoo", seed=seed, n_threads=1) as agent:
        agent.learn(agent.plan.total_timesteps)
        assert mean_return(agent, env, episodes=20) >= least
