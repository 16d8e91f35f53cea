"""Waiting for a message without taking processor time from the processes that send it.

MPI's own waiting calls poll without a pause, do not react to Ctrl-C, and have no time limit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

#: For so many seconds it polls without sleeping, but yields to other processes on the core.
EAGER_SECONDS = 1e-3
#: Later it sleeps for this share of the time waited, by which a message may be noticed late.
SHARE = 0.05
#: But it never sleeps longer than this.
LONGEST_SECONDS = 5e-3

_yield = getattr(os, "sched_yield", lambda: time.sleep(0))


def wait_until(
    is_there: Callable[[], bool], still_waiting: Callable[[float], None] | None = None
) -> None:
    """Return as soon as `is_there` does not return False.

    Args:
        is_there: called repeatedly.
        still_waiting: called with the seconds waited so far, every few milliseconds after the first
            ones; it may raise an exception.
    """
    if is_there():
        return
    began = time.perf_counter()
    while not is_there():
        waited = time.perf_counter() - began
        if waited < EAGER_SECONDS:
            _yield()
            continue
        if still_waiting is not None:
            still_waiting(waited)
        time.sleep(min(waited * SHARE, LONGEST_SECONDS))
