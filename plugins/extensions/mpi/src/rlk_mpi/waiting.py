"""Waiting for other ranks without taking processor time from them.

MPI's own waiting calls poll without a pause, do not react to Ctrl-C, and have no time limit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import attrs

#: What sleeps between two polls sleeps for this share of the time waited, by which a message may be
#: noticed late.
SHARE = 0.05
#: But it never sleeps longer than this.
LONGEST_SECONDS = 5e-3

_yield = getattr(os, "sched_yield", lambda: time.sleep(0))


@attrs.frozen
class Waiting:
    """How a rank waits: it polls, and sleeps between two polls once that has taken too long.

    Attributes:
        eager_seconds: for so long it polls without sleeping.
        yields: whether other processes on the core may run between two of these polls.
    """

    eager_seconds: float
    yields: bool

    def until(
        self,
        is_there: Callable[[], bool],
        still_waiting: Callable[[float], None] | None = None,
    ) -> None:
        """Return as soon as `is_there` does not return False.

        Args:
            is_there: called repeatedly.
            still_waiting: called with the seconds waited so far, every few milliseconds after the
                first ones; it may raise an exception.
        """
        if is_there():
            return
        began = time.perf_counter()
        while not is_there():
            waited = time.perf_counter() - began
            if waited > self.eager_seconds:
                if still_waiting is not None:
                    still_waiting(waited)
                time.sleep(min(waited * SHARE, LONGEST_SECONDS))
            elif self.yields:
                _yield()


#: Where every rank has a core: it does not yield, because another program that wants this core
#: would then run for milliseconds, at every call.
ON_OWN_CORES = Waiting(1e-3, yields=False)
#: Where ranks share cores: the one that is waited for may need this core.
ON_SHARED_CORES = Waiting(20e-3, yields=True)


def cores_of_this_process() -> set[int]:
    """The cores that it may use: a launcher may bind each rank to some of its own."""
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


def waiting_of(cores: Sequence[set[int]]) -> Waiting:
    """How the ranks of a machine wait for each other; `cores` are those that each may use."""
    return ON_OWN_CORES if len(cores) <= len(set[int]().union(*cores)) else ON_SHARED_CORES
