"""What planning knows of the replay storage."""

from __future__ import annotations

from rlk.component import Component
from rlk_replay.config import ReplayConfig

component = Component(
    name="replay",
    factory="rlk_replay.storage:Replay",
    summary="Replay memory: uniform sampling, each observation stored once.",
    config=ReplayConfig,
    collects="off-policy",
)
