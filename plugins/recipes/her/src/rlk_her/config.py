"""Settings of HER, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs

from rlk.settings import documented, setting
from rlk_hindsight_replay.config import HindsightReplayConfig


@documented
@attrs.frozen(kw_only=True)
class HERConfig(HindsightReplayConfig):
    """The settings of hindsight replay, and the algorithm that learns from it."""

    model: str = attrs.field(
        **setting(
            "the off-policy algorithm that learns: dqn where actions are discrete, sac, "
            "td3 or ddpg where they are continuous"
        )
    )
