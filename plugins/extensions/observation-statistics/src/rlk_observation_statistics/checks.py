"""What the filters of observations refuse while a run is planned. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError
from rlk_observation_statistics.config import RangeConfig, StatisticsConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def can_normalize(config: StatisticsConfig, plan: Plan) -> None:
    """PlanError if there is nothing to normalise."""
    _check_has_numbers(plan, "observation-statistics", "normalize_observations")


def can_clip(config: RangeConfig, plan: Plan) -> None:
    """PlanError if there is nothing to clip; `ddpg` always has the default range."""
    if config.range not in (RangeConfig().range, (-math.inf, math.inf)):
        _check_has_numbers(plan, "observation-range", "observation_range")


def _check_has_numbers(plan: Plan, name: str, setting: str) -> None:
    """PlanError unless a part of the policy's observations is a Box and no image."""
    from gymnasium.spaces import Dict  # not at the top: planning imports it late

    from rlk.spaces import describe, kind

    space: Any = plan.policy_space
    parts = space.spaces.values() if isinstance(space, Dict) else [space]
    if not any(kind(part) == "Box" for part in parts):
        raise PlanError(
            f"extension {name!r} (rlk-observation-statistics) would have no effect: it changes "
            "every Box of an observation that is not an image, and observations are "
            f"{describe(space)}. Leave it out (with ddpg, leave out {setting})."
        )
