"""The component `her`."""

from __future__ import annotations

from rlk import settings
from rlk.component import Component
from rlk_her.config import HERConfig
from rlk_hindsight_replay.config import HindsightReplayConfig

component = Component(
    name="her",
    factory="rlk_her.recipe:stands_for",
    summary="hindsight experience replay with any off-policy algorithm: --set model=sac",
    config=HERConfig,
    forwards={name: f"hindsight-replay.{name}" for name in settings.names(HindsightReplayConfig)},
)
