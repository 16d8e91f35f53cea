"""What planning knows of the rollout storage."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="rollout",
    factory="rlk_rollout.storage:RolloutStorage",
    summary="one collection of n_steps per environment, overwritten by the next",
    collects="on-policy",
)
