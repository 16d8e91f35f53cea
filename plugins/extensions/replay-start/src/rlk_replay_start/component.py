"""The component of the extension."""

from __future__ import annotations

from rlk.component import Component
from rlk_replay_start.config import ReplayStartConfig

component = Component(
    name="replay-start",
    factory="rlk_replay_start.extension:ReplayStart",
    summary="a run begins with the replay of another one",
    config=ReplayStartConfig,
    only_trains=True,
)
