"""Intervals in timesteps, for any number of environments. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.clock import Clock


class TimestepInterval:
    """Whether a multiple of `every` timesteps was passed since the last call.

    Attributes:
        asked_at: the timestep of the last call; checkpoints hold it.
    """

    def __init__(self, every: int, clock: Clock) -> None:
        self.every, self.asked_at = every, 0
        self._clock = clock

    def passed(self) -> bool:
        before, self.asked_at = self.asked_at, self._clock.timesteps
        # `!=` and not `>`: a second call of `learn` may have set the clock back to 0.
        return self.asked_at // self.every != before // self.every
