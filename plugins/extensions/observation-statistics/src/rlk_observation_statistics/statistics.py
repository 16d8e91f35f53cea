"""`observation-statistics`: mean and standard deviation of training's observations, in the policy.

Replays keep raw observations, so hindsight's goals, models and `predict` are not affected.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.hookspecs import hookimpl
from rlk_observation_statistics.config import StatisticsConfig
from rlk_running_statistics import Fresh, ObservationStatistics

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.records import Step
    from rlk.running.run import Run


class RunningStatistics:
    """Updates the moments with the observations of training, and the policy normalises by them.

    The moments that the policy uses change after a collection, before its updates. So acting and
    learning use the same moments, and the first update uses those of its own replay.
    """

    statistics: ObservationStatistics

    def __init__(self, config: StatisticsConfig | None = None) -> None:
        self._config = config or StatisticsConfig()

    @hookimpl
    def rlk_filter_observation(self, run: Run) -> ObservationStatistics | None:
        space = run.observation_space
        self.statistics = ObservationStatistics(space, math.inf, self._config.epsilon)
        self._fresh = Fresh(self.statistics.size)
        return self.statistics if self.statistics.size else None

    @hookimpl
    def rlk_step(self, step: Step) -> None:
        if self.statistics.size:
            self._fresh.add(self.statistics.rows(step.observation))

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:
        """Merge the observations of all ranks, so that all have the same moments."""
        for moments in run.communicator.gather(self._fresh.moments()):
            self.statistics.observation.merge(*moments)
        self._fresh.clear()
        self.statistics.refresh()

    # ---- observations that the moments do not include yet, in the middle of a collection ---------

    @hookimpl
    def rlk_save(self) -> State:
        return self._fresh.state_dict()

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._fresh.load_state_dict(state)
