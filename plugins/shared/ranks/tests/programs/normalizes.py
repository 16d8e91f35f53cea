"""Trains with `normalize` and batch normalisation; each rank writes the statistics it ends with."""

from __future__ import annotations

import json
import os
from pathlib import Path

from launched import PLUGIN
from torch import nn

import rlk


def normed(observation_space):
    return nn.Sequential(nn.Linear(observation_space.shape[0], 8), nn.BatchNorm1d(8), nn.Tanh())


with rlk.make(
    "ppo2",
    env="rlk_testing.environments:DiscreteMatch",
    n_envs=2,
    plugins=[f"{PLUGIN}:check=1", "normalize"],
    policy={"encoder": normed},
    seed=3,
    n_threads=1,
    n_steps=16,
) as agent:
    agent.learn(3 * 16 * 2 * 2)
    buffers = {name: value.tolist() for name, value in agent.run.policy.named_buffers()}
    own = agent.run.collector.state_dict()["observation"].tolist()
    Path(os.environ["FACTS"]).write_text(json.dumps({"shared": buffers, "own": own}))
