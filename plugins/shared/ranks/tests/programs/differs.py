"""Rank 1 is to train to another timestep than rank 0."""

from __future__ import annotations

from launched import PLUGIN

import rlk

with rlk.make(
    "ppo2",
    env="rlk_testing.environments:DiscreteMatch",
    plugins=[PLUGIN],
    n_steps=16,
    n_threads=1,
) as agent:
    agent.learn(64)
    if agent.run.communicator.rank == 1:
        agent.learn(32)
    agent.learn(64)
