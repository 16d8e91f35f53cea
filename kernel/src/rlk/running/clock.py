"""The clock of a run, which drives every scheduled number.

One rule holds for all of them: a schedule begins at timestep 0 and ends where the current call of
`learn` ends. `learn(n)` counts from 0 again, so it runs through every schedule once.
`learn(n, reset_num_timesteps=False)` continues the count: after m timesteps every schedule
continues at the fraction m / (m + n), never from the start. A loaded or resumed run keeps its
count of timesteps and follows the same rule. docs/schedules.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from rlk.errors import BadFile
from rlk.structure import structured

#: A number, or a function of the fraction of the run that remains, 1 at its start, 0 at its end.
Scheduled = float | Callable[[float], float]


@dataclass
class Clock:
    """How far a run has come. One vector step is `n_envs` timesteps."""

    total_timesteps: int  #: the timestep at which the current call of `learn` ends
    timesteps: int = 0  #: environment steps so far, over all environments of all ranks
    iterations: int = 0  #: collections finished
    updates: int = 0  #: calls of `algorithm.update`
    refused: int = 0  #: those whose step `Loss.accept` refused, as the algorithm counts them
    episodes: int = 0  #: episodes finished, of all ranks
    logged: int = 0  #: iterations or episodes (see `log_interval`) when the last row was due
    logged_at: int = 0  #: `cumulative_timesteps` then
    earlier_timesteps: int = 0  #: those of the calls before `timesteps` last began at 0

    def restart(self) -> None:
        """Count timesteps from 0 again, as a new call of `learn` does."""
        self.earlier_timesteps += self.timesteps
        self.timesteps = 0

    @property
    def cumulative_timesteps(self) -> int:
        """The timesteps of all calls of `learn`; they never begin at 0 again."""
        return self.earlier_timesteps + self.timesteps

    @property
    def updates_taken(self) -> int:
        """The updates that took their step, which rows have as `train/n_updates`."""
        return self.updates - self.refused

    def progress(self) -> float:
        """The fraction of the run that is done, 0 to 1."""
        return self.fraction_of(self.total_timesteps)

    def remaining(self) -> float:
        """The fraction of the run that remains, 1 to 0: the argument of every schedule."""
        return 1.0 - self.progress()

    def fraction_of(self, timesteps: int) -> float:
        """The fraction of these timesteps that is done, for a schedule with its own length."""
        return min(1.0, self.timesteps / timesteps) if timesteps > 0 else 1.0

    def state_dict(self) -> dict[str, int]:
        return asdict(self)

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Read the saved clock.

        Raises:
            BadFile: unless it is a clock of whole numbers that are not negative.
        """
        found = structured(Clock, state, "the saved clock", only_known_keys=False).state_dict()
        negative = [name for name, value in found.items() if value < 0]
        if negative:
            raise BadFile(f"the saved clock has a negative number: {negative[0]}.")
        vars(self).update(found)
