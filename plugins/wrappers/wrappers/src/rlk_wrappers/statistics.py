"""The statistics of `normalize` and `VecNormalize`: of observations, and of discounted returns."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from rlk_running_statistics import ObservationStatistics


class Statistics(ObservationStatistics):
    """Normalises observations, and keeps the moments of the returns by which rewards are scaled.

    Attributes:
        returns: moments of the discounted return, a single number.
    """

    def __init__(self, space: gym.Space[Any] | None, clip_obs: float, epsilon: float) -> None:
        super().__init__(space, clip_obs, epsilon)
        self.returns = self.add_moments("return", 1)
