"""What TRPO must reach with its presets: run with `pytest -m learning tests/learning`."""

from __future__ import annotations

import pytest

import rlk
from rlk_testing import mean_return


@pytest.mark.learning
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("env", "least"), [("CartPole-v1", 495.0), ("Pendulum-v1", -250.0)])
def test_it_reaches_the_return_of_its_target(env, least, seed):
    with rlk.make("trpo", env=env, preset="zoo", seed=seed, n_threads=1) as agent:
        agent.learn(agent.plan.total_timesteps)
        assert mean_return(agent, env, episodes=20) >= least
