"""What planning knows of the replay storage."""

from __future__ import annotations

from typing import Any

from rlk.component import Component
from rlk.errors import PlanError
from rlk_replay.config import ReplayConfig, steps_per_env


def check(config: ReplayConfig, plan: Any) -> None:
    """Check that the memory can hold a batch.

    Raises:
        PlanError: if the memory holds fewer transitions than the algorithm's `batch_size`.
    """
    batch_size = getattr(plan.algorithm.config, "batch_size", None)
    capacity = steps_per_env(config.buffer_size, plan.n_envs) * plan.n_envs
    if batch_size is not None and capacity < batch_size:
        raise PlanError(
            f"{plan.algorithm.title} would never learn: buffer_size={config.buffer_size} with "
            f"n_envs={plan.n_envs} holds fewer transitions than batch_size={batch_size}. "
            f"Set buffer_size to {-(-batch_size // plan.n_envs) * plan.n_envs} or more."
        )


component = Component(
    name="replay",
    factory="rlk_replay.storage:Replay",
    summary="uniform replay that stores each observation, and each stacked frame, once",
    config=ReplayConfig,
    instead_of={
        "optimize_memory_usage": "a replay stores every observation once, always. Leave it out.",
        "replay_buffer_class=None": "the storage is the algorithm's own unless you ask for "
        "another. Leave it out.",
    },
    collects="off-policy",
    check=check,
)
