"""What this distribution offers: `epsilon-greedy`."""

from __future__ import annotations

from rlk.component import Component
from rlk_epsilon_greedy.config import EpsilonGreedyConfig

component = Component(
    name="epsilon-greedy",
    factory="rlk_epsilon_greedy.noise:EpsilonGreedy",
    summary="uniformly random actions, with a probability that falls linearly",
    config=EpsilonGreedyConfig,
    action_spaces=("Discrete",),
    collects="off-policy",
)
