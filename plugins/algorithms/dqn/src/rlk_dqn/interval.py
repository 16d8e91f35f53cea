"""Intervals in timesteps, for any number of environments. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.clock import Clock


class TimestepInterval:
    """Counts the vector steps that have passed a multiple of `every` timesteps.

    Args:
        every: timesteps, at least 1.
        clock: the run's.
        vector_step: timesteps by which the clock advances at once.

    Attributes:
        asked_at: the timestep of the last call; checkpoints hold it.
    """

    def __init__(self, every: int, clock: Clock, vector_step: int) -> None:
        self.every, self.asked_at = every, 0
        self._clock, self._vector_step = clock, vector_step

    def passed(self) -> int:
        """How many vector steps since the last call have passed one multiple or several."""
        before, now = self.asked_at, self._clock.timesteps
        self.asked_at = now
        if now < before:  # a call of `learn` has set the clock back to 0
            before = 0
        multiples = now // self.every - before // self.every
        return min(multiples, math.ceil((now - before) / self._vector_step))
