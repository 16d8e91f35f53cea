"""The metrics of collecting in every row: the latest episodes, and speed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.running.run import Run


class RolloutMetrics:
    """Adds them through the hooks of a run; speed is measured since the previous row.

    `time.monotonic` would not do: up to Python 3.12, it advances by 16 ms at a time on Windows.
    """

    def __init__(self, run: Run) -> None:
        self._started = time.perf_counter()
        self._mark = (self._started, run.timesteps)

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        self._mark = (time.perf_counter(), run.timesteps)

    @hookimpl(tryfirst=True)
    def rlk_log(self, run: Run, row: dict[str, float]) -> None:
        """`rollout/…` and `time/…`, before the entries that the row already has."""
        updates = dict(row)
        row.clear()
        if run.metrics.recent_episodes:
            means = map(float, np.mean(run.metrics.recent_episodes, axis=0))
            row["rollout/ep_rew_mean"], row["rollout/ep_len_mean"] = means
        told = [one for one in run.metrics.recent_successes if one is not None]
        if told:
            row["rollout/success_rate"] = sum(told) / len(told)
        (before, steps_before), now = self._mark, time.perf_counter()
        self._mark = (now, run.timesteps)
        steps, seconds = run.timesteps - steps_before, now - before
        if steps > 0 and seconds > 0:  # a row may follow another one with no step between them
            row["time/fps"] = steps / seconds
        row["time/iterations"] = run.clock.iterations
        row["time/time_elapsed"] = now - self._started
        row["time/total_timesteps"] = run.timesteps
        row["time/episodes"] = run.clock.episodes
        row |= updates
