"""`no-steps`: a collector for algorithms that learn from data that the storage already holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.protocols import State

if TYPE_CHECKING:
    from rlk.running.run import Run


class NoSteps:
    """A collection is one pass over the storage: each of its transitions is a timestep."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def collect(self) -> bool:
        """Advance the clock; no environment is stepped, so no listener of steps is called."""
        self.run.clock.timesteps += len(self.run.storage) * self.run.communicator.size
        return True

    def forget(self) -> None:
        """Nothing to forget."""

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing to restore."""
