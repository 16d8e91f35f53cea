"""Statistics of observations, which a policy normalises by, before anything was observed."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from rlk.records import Array
from rlk_running_statistics import ObservationStatistics


def begin_statistics(policy: nn.Module, observations: Callable[[], Array]) -> None:
    """Let a policy normalise by the moments of an expert's observations, if it has none yet.

    Args:
        policy: the policy; `normalize` and `observation-statistics` put their statistics in it.
        observations: returns the observations, [M, ...], that are learnt from.
    """
    for module in policy.modules():
        if isinstance(module, ObservationStatistics) and module.lack_observations():
            module.begin(observations())
