"""Prints a line before a long run without `compile`: how much time compiling would save.

The algorithm says how many updates the run will make; the saving per update is estimated from the
number of parameters and the batch size. Nothing is run or measured, so the hint costs no time, and
the run itself never depends on a clock.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import attrs

from rlk.abilities import ForeseesUpdates, offers
from rlk.hookspecs import hookimpl
from rlk.terminal import print_on
from rlk_compile.component import component
from rlk_compile.untraceable import why_untraceable

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.running.run import Run

#: By what factor the saving must exceed the time that compiling takes.
TIMES = 3.0


@attrs.frozen
class Seconds:
    """What compiling costs and saves on a device; the README has the measurements.

    Attributes:
        saved: for each update of any size. saved_each: additionally, for each pair of a parameter
            and a transition. cost: of compiling at the first start.
    """

    saved: float
    saved_each: float
    cost: float


ON = {"cpu": Seconds(0.0003, 3e-11, cost=30.0), "cuda": Seconds(0.0015, 0.0, cost=10.0)}


class CompileHint:
    """Added to every `rlk run` that prints and does not use `compile`."""

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        if not would_apply(run):
            return
        clock, algorithm = run.clock, cast(ForeseesUpdates, run.algorithm)
        ahead = algorithm.updates_ahead(clock.total_timesteps - clock.timesteps)
        if ahead is not None and (text := hint(*ahead, run.parameters.flat)):
            print_on(sys.stderr, f"compile: {text}")


def would_apply(run: Run) -> bool:
    """Whether compiling is possible, is not chosen already, and the hint would be printed.

    No update of a recurrent policy was measured, so there is no estimate of what it would save.
    """
    from rlk_compile.backend import compiler  # not at the top: it imports torch

    plan, device = run.plan, run.parameters.flat.device.type
    return (
        bool(plan.verbose)
        and not any(choice.name == component.name for choice in plan.extensions)
        and not plan.policy.component.recurrent
        and why_untraceable(run.policy) is None
        and device in ON
        and (device != "cpu" or compiler() is not None)
        and run.communicator.size == 1
        and offers(run.algorithm, ForeseesUpdates)
    )


def hint(updates: int, transitions: int, flat: Tensor) -> str:
    """The line before a run with so many updates of so many transitions; "" for none.

    Args:
        flat: [P], the parameters.
    """
    seconds, parameters = ON[flat.device.type], flat.numel()
    saved = updates * (seconds.saved + seconds.saved_each * parameters * transitions)
    if saved < TIMES * seconds.cost:
        return ""
    return (
        f"--plugin compile would save about {_minutes(saved)} of this run, by an estimate for "
        f"{updates:,} updates of {transitions} transitions and {parameters:,} parameters."
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"
