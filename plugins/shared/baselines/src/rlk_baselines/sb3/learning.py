"""Calls callbacks, and evaluates schedules, where Stable-Baselines3's loops do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk import hookimpl
from rlk_baselines import learning

if TYPE_CHECKING:
    from rlk.running.run import Run


class Watcher(learning.Watcher):
    """As in Stable Baselines 2.10, but schedules are also evaluated after every collection.

    Updates then use the value at their own timestep, and the last ones that at the end.
    """

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:  # type: ignore[override]
        super().rlk_rollout_end()
        run.refresh_schedules()
