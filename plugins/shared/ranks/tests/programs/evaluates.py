"""Rank 0 alone has a callback, which evaluates between two rows that are due."""

from __future__ import annotations

from launched import PLUGIN

import rlk
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.evaluation import EvaluationCallback

with rlk.make(
    "ppo2",
    env="CartPole-v1",
    plugins=[PLUGIN],
    seed=5,
    out="out",
    log_interval=3,
    n_steps=16,
) as agent:
    evaluation = EvaluationCallback(EvaluationConfig(every=64, episodes=1))
    agent.learn(192, callback=evaluation if agent.run.communicator.rank == 0 else None)
