"""Statistics of a policy that learns from data, before it has observed anything itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import nn

from rlk.protocols import Communicator
from rlk_running_statistics.observations import ObservationStatistics


def begin_statistics(
    policy: nn.Module,
    observations: Callable[[], Iterable[Any]],
    communicator: Communicator | None = None,
) -> None:
    """Let a policy normalise by the moments of the observations in data, if it has none yet.

    Args:
        policy: the policy; `normalize` and `observation-statistics` put their statistics in it.
        observations: returns the observations that are learnt from, in parts: each [M, ...], or a
            dict of such arrays. It is called only if a part of the policy lacks observations.
        communicator: of the ranks whose observations count together; None is this process alone.
    """
    for module in policy.modules():
        if isinstance(module, ObservationStatistics) and module.lack_observations():
            module.begin(observations(), communicator)
