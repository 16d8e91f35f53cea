"""Prints a line before a long run without `compile`: how much time compiling would save.

The algorithm says how many updates the run will make; the saving per update is estimated from the
number of parameters and the batch size. Nothing is run or measured, so the hint costs no time, and
the run itself never depends on a clock.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from rlk.abilities import ForeseesUpdates, offers
from rlk.hookspecs import hookimpl
from rlk_compile.component import component

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Seconds that compiling saves for each update of any size, and additionally for each pair of a
#: parameter and a transition. The README has the measurements.
SAVED, SAVED_EACH = 0.0005, 6e-11
#: Seconds that compiling takes at the first start, and by what factor the saving must exceed them.
COST_SECONDS, TIMES = 30.0, 3.0


class CompileHint:
    """Added to every `rlk run` that prints and does not use `compile`, on a CPU."""

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        if not would_apply(run):
            return
        clock, algorithm = run.clock, cast(ForeseesUpdates, run.algorithm)
        ahead = algorithm.updates_ahead(clock.total_timesteps - clock.timesteps)
        if ahead is not None and (text := hint(*ahead, run.parameters.flat.numel())):
            print(f"compile: {text}", file=sys.stderr, flush=True)


def would_apply(run: Run) -> bool:
    """Whether compiling is possible, is not chosen already, and the hint would be printed."""
    plan = run.plan
    return (
        bool(plan.verbose)
        and not any(choice.name == component.name for choice in plan.extensions)
        and not plan.policy.component.recurrent
        and str(run.device) == "cpu"
        and run.communicator.size == 1
        and offers(run.algorithm, ForeseesUpdates)
    )


def hint(updates: int, transitions: int, parameters: int) -> str:
    """The line before a run with so many updates of so many transitions; "" for none."""
    saved = updates * (SAVED + SAVED_EACH * parameters * transitions)
    if saved < TIMES * COST_SECONDS:
        return ""
    return (
        f"--plugin compile would save about {_minutes(saved)} of this run, by an estimate for "
        f"{updates:,} updates of {transitions} transitions and {parameters:,} parameters."
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"
