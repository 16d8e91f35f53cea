"""Waiting for a message without taking the processor away from those who are to send it.

MPI's own waiting calls look without a pause, take no Ctrl-C, and know no time limit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

#: So long it looks again at once; whoever shares the core may go first.
EAGER_SECONDS = 1e-3
#: Later it sleeps for this share of what it has waited: that much later a message is seen at most.
SHARE = 0.05
#: And never longer than this.
LONGEST_SECONDS = 5e-3

_yield = getattr(os, "sched_yield", lambda: time.sleep(0))


def wait_until(
    is_there: Callable[[], bool], still_waiting: Callable[[float], None] | None = None
) -> None:
    """Returns when `is_there` does not say False any more.

    Args:
        is_there: asked again and again.
        still_waiting: called with the seconds that it has waited, every few milliseconds once they
            are more than some; it may raise.
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
