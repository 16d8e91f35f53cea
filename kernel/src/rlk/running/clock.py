"""The clock of a run, which drives every scheduled number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from rlk.errors import BadFile
from rlk.structure import structured

#: A number, or a function of what remains of the run, from 1 at its start to 0 at its end.
Scheduled = float | Callable[[float], float]


@dataclass
class Clock:
    """How far a run has come. One vector step is `n_envs` timesteps."""

    total_timesteps: int  #: the timestep at which the current call of `learn` ends
    timesteps: int = 0  #: environment steps so far, over all environments of all ranks
    start: int = 0  #: the timestep at which the current schedule began
    iterations: int = 0  #: collections finished
    updates: int = 0  #: calls of `algorithm.update`
    episodes: int = 0  #: episodes finished, of all ranks
    logged: int = 0  #: iterations or episodes (see `log_interval`) when the last row was due

    def progress(self) -> float:
        """The part of the run that is done, 0 to 1."""
        span = self.total_timesteps - self.start
        if span <= 0:
            return 1.0
        return min(1.0, max(0.0, (self.timesteps - self.start) / span))

    def remaining(self) -> float:
        """The part of the run that is left, 1 to 0: the argument of every schedule."""
        return 1.0 - self.progress()

    def state_dict(self) -> dict[str, int]:
        return asdict(self)

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Read the saved clock.

        Raises:
            BadFile: unless it is one, of whole numbers that are not negative.
        """
        saved = structured(Clock, state, "the saved clock").state_dict()
        negative = [name for name, value in saved.items() if value < 0]
        if negative:
            raise BadFile(f"the saved clock has a negative number: {negative[0]}.")
        vars(self).update(saved)
