"""The component of the extension."""

from __future__ import annotations

from rlk.component import Component
from rlk_demonstrations.checks import check
from rlk_demonstrations.config import DemonstrationsConfig

component = Component(
    name="demonstrations",
    factory="rlk_demonstrations.extension:Demonstrations",
    summary="off-policy: the replay begins with an expert's transitions",
    config=DemonstrationsConfig,
    collects="off-policy",
    check=check,
    only_trains=True,
)
