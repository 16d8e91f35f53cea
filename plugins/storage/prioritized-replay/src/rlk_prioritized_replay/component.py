"""What planning knows of prioritized replay."""

from __future__ import annotations

from rlk.component import Component
from rlk_prioritized_replay.config import PrioritizedReplayConfig

component = Component(
    name="prioritized-replay",
    factory="rlk_prioritized_replay.storage:PrioritizedReplay",
    summary="samples transitions in proportion to their TD error (Schaul et al. 2015)",
    config=PrioritizedReplayConfig,
    needs=("td_error",),
    collects="off-policy",
    stages=("choose",),
)
