"""The components `observation-statistics` and `observation-range`."""

from __future__ import annotations

from rlk.component import Component
from rlk_observation_statistics.checks import can_clip, can_normalize
from rlk_observation_statistics.config import RangeConfig, StatisticsConfig

observation_statistics = Component(
    name="observation-statistics",
    factory="rlk_observation_statistics.statistics:RunningStatistics",
    summary="off-policy: the policy normalises observations by the statistics of training",
    config=StatisticsConfig,
    collects="off-policy",
    check=can_normalize,
)
observation_range = Component(
    name="observation-range",
    factory="rlk_observation_statistics.bounds:ObservationRange",
    summary="the policy clips observations to a range, after they are normalised",
    config=RangeConfig,
    check=can_clip,
)
