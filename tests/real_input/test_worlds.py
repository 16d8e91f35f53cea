"""Trains in environments of other packages: a few steps of each that is installed.

`-m real_input` trains 20,000 timesteps in each, for minutes. What they need:
`pip install "rlk-atari[atari]" "rlk-pybullet[pybullet]" "rlk-gymnasium[box2d,mujoco]"
"rlk-highway[highway]" minigrid "pettingzoo[butterfly]" supersuit`.
"""

from __future__ import annotations

import pytest
from real_input.worlds import TIMESTEPS, WORLDS

import rlk


@pytest.fixture(params=WORLDS, ids=str)
def world(request, tmp_path, monkeypatch):
    if request.param.missing():
        pytest.skip(f"not installed: {', '.join(request.param.missing())}")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log to the working folder
    return request.param


def test_a_few_steps_change_the_policy(world):
    with rlk.make(world.algo, **{**world.keywords(), **world.small}) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(32)
        assert not agent.run.parameters.flat.equal(before)


@pytest.mark.real_input
@pytest.mark.timeout(3600)
def test_a_training_ends_with_finite_parameters_and_reported_episodes(world):
    with rlk.make(world.algo, **world.keywords()) as agent:
        agent.learn(TIMESTEPS)
        assert agent.num_timesteps >= TIMESTEPS
        assert bool(agent.run.parameters.flat.isfinite().all())
        returns = [return_ for return_, _ in agent.run.metrics.recent_episodes]
        assert returns
        mean = sum(returns) / len(returns)
        print(f"{world}: {agent.num_timesteps} timesteps, last mean return {mean:.1f}")
