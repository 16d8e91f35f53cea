"""Rank 1 is to train with another discount factor than rank 0."""

from __future__ import annotations

from launched import PLUGIN, guard

import rlk

rlk.make(
    "ppo2",
    env="rlk_testing.environments:DiscreteMatch",
    plugins=[PLUGIN],
    gamma=0.9 if guard().ranks.rank == 1 else 0.99,
)
