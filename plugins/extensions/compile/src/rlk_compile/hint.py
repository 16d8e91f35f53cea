"""A line for long runs without `compile`: what it would save. It prints, and changes nothing.

The first updates of the run are timed, and how often they come is counted; the rest is a table.
What the run does never depends on it: compiling by the clock would make runs of one seed differ.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl
from rlk_compile.component import component

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Updates that are timed.
TIMED = 20
#: Seconds of an eager update up to which a row holds -> the part of them that compiling saves. On
#: a quiet CPU it is 0.8 (DQN, 0.6 ms; SAC, 1.7 ms) and 0.5 (SAC, 13 ms), on a busy one less.
SAVED = ((0.004, 0.6), (float("inf"), 0.3))
#: What the first start pays for compiling, and how many times over it must be repaid.
COST_SECONDS, TIMES = 30.0, 3.0


class CompileHint:
    """Joins every `rlk run` that prints and does without `compile`, on a CPU."""

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> Callable[[Callable[..., Any]], Timed] | None:
        plan = run.plan
        active = any(choice.name == component.name for choice in plan.extensions)
        if active or not plan.verbose or run.communicator.rank or plan.policy.component.recurrent:
            return None
        if str(run.device) != "cpu":
            return None
        return lambda update: Timed(update, run)


class Timed:
    """An update that is timed a few times, until there is something to say."""

    def __init__(self, update: Callable[..., Any], run: Run) -> None:
        self._update, self._run = update, run
        self._seconds: list[float] = []
        self._first = 0
        self._told = False

    def __call__(self, batch: Any, optimise: Any) -> Any:
        if self._told:
            return self._update(batch, optimise)
        clock = self._run.clock
        if not self._seconds:
            self._first, self._updates = clock.timesteps, clock.updates
        began = time.perf_counter()
        result = self._update(batch, optimise)
        self._seconds.append(time.perf_counter() - began)
        steps = clock.timesteps - self._first
        if len(self._seconds) >= TIMED and steps > 0:
            self._told = True
            each, left = median(self._seconds), clock.total_timesteps - clock.timesteps
            if text := hint(each, left * (clock.updates - self._updates) / steps):
                print(f"compile: {text}", file=sys.stderr, flush=True)
            self._seconds = []
        return result


def hint(seconds: float, updates: float) -> str:
    """What to say of a run with so many updates to come of so many seconds each, "" if nothing."""
    part = next(part for most, part in SAVED if seconds <= most)
    saved = part * seconds * updates
    if saved < TIMES * COST_SECONDS:
        return ""
    return (
        f"--plugin compile would save about {_minutes(saved)} of the "
        f"{_minutes(seconds * updates)} that this run's updates take."
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"
