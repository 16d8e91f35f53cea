"""What planning knows of the trajectory replay."""

from __future__ import annotations

from rlk.component import Component
from rlk_trajectory_replay.config import TrajectoryReplayConfig

component = Component(
    name="trajectory-replay",
    factory="rlk_trajectory_replay.storage:TrajectoryReplay",
    summary="the last collections as whole sequences: the newest one, or sampled ones",
    config=TrajectoryReplayConfig,
    collects="both",
)
