"""Calls callbacks, and evaluates schedules, where Stable-Baselines3's loops do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rlk import hookimpl
from rlk_baselines import learning
from rlk_sb3 import latest_episodes

if TYPE_CHECKING:
    from rlk.running.run import Run


class CallbackHooks(learning.CallbackHooks):
    """As in Stable Baselines 2.10, but in the order of Stable-Baselines3's loops.

    If `train_freq` counts episodes, these are one rollout, which for rlk is many collections.
    """

    _is_first = True  #: whether no collection has begun in this call of `learn`

    @hookimpl
    def rlk_rollout_start(self, run: Run) -> None:
        is_first, self._is_first = self._is_first, False
        schedule = _update_schedule(run)
        if is_first or schedule is None or schedule.is_new_collection():
            super().rlk_rollout_start(run)

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:  # type: ignore[override]
        schedule = _update_schedule(run)
        if schedule is None or schedule.ends_collection():
            super().rlk_rollout_end()


class Watcher(learning.Watcher):
    """As in Stable Baselines 2.10, but schedules are also evaluated after every collection.

    Updates then use the value at their own timestep, and the last ones that at the end.
    """

    heard = CallbackHooks

    def learn(self, model: Any, call: learning.Call) -> None:
        """As in `learning.Watcher`; the model first notes what it knows of the call."""
        if call.reset_num_timesteps:  # rows then average over new episodes only
            latest_episodes.begin(model)
            model.agent.run.metrics.recent_episodes.clear()
            model.agent.run.metrics.recent_successes.clear()
        before = 0 if call.reset_num_timesteps else model.num_timesteps
        model._total_timesteps, model.start_time = before + call.total_timesteps, time.time_ns()
        super().learn(model, call)

    @hookimpl(trylast=True)  # after callbacks
    def rlk_rollout_end(self, run: Run) -> None:
        run.refresh_schedules()


def _update_schedule(run: Run) -> Any:
    """What decides when an off-policy algorithm updates; None for an on-policy one."""
    return getattr(run.algorithm, "schedule", None)
