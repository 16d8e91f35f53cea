"""TD3 reaches the return of its target, for minutes each: `pytest -m learning tests/learning`."""

from __future__ import annotations

import pytest

import rlk
from rlk_testing import mean_return


@pytest.mark.learning
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_td3_swings_the_pendulum_up_in_20000_steps(seed: int) -> None:
    with rlk.make("td3", env="Pendulum-v1", seed=seed, preset="zoo", n_threads=1) as agent:
        assert agent.plan.total_timesteps == 20_000
        agent.learn()
        reached = mean_return(agent, "Pendulum-v1", episodes=20)
    print(f"td3 on Pendulum-v1, seed {seed}: {reached:.1f}")
    assert reached >= -170.0
