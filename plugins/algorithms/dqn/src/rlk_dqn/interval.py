"""Intervals in timesteps, for any number of environments. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.clock import Clock


class TimestepInterval:
    """Counts the vector steps that have passed a multiple of `every` timesteps.

    Timesteps are those of all calls of `learn`, so many short calls pass multiples as a long one.

    Args:
        every: timesteps, at least 1.
        clock: the run's.
        vector_step: timesteps by which the clock advances at once.

    Attributes:
        asked_at: the cumulative timesteps at the last call; checkpoints hold them.
    """

    def __init__(self, every: int, clock: Clock, vector_step: int) -> None:
        self.every, self.asked_at = every, 0
        self._clock, self._vector_step = clock, vector_step

    def passed(self) -> int:
        """How many vector steps since the last call have passed one multiple or several."""
        before, now = self.asked_at, self._clock.cumulative_timesteps
        self.asked_at = now
        multiples = now // self.every - before // self.every
        found = min(multiples, math.ceil((now - before) / self._vector_step))
        return max(0, found)  # the clock may fall: ranks that were stopped agree on what they made
