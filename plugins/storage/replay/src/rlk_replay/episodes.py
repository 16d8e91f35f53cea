"""Where the episode of a stored step begins and ends, for storages that look ahead."""

from __future__ import annotations

import numpy as np

from rlk.protocols import State
from rlk_replay.memory import Zeros

#: The last time of an episode that is still running.
OPEN = np.iinfo(np.int64).max


class Episodes:
    """First and last time of the episode of every slot; time counts vector steps since `open`.

    A step costs one row write. When an episode ends, its end is written to all of its slots, once,
    as a slice.

    Attributes:
        bounds: int64 [C, N, 2], first and last time; last is `OPEN` while the episode runs.
    """

    def __init__(self, capacity: int, n_envs: int, zeros: Zeros) -> None:
        self._capacity = capacity
        self.bounds = zeros((capacity, n_envs, 2), np.int64)
        self._running = np.array([[0, OPEN]] * n_envs)

    def step(self, row: int) -> None:
        """A step of every environment was written to this row."""
        self.bounds[row] = self._running

    def end(self, env: int, time: int) -> None:
        """The episode of this environment ended with the step of that time."""
        begin = max(int(self._running[env, 0]), time - self._capacity + 1)
        first, last = begin % self._capacity, time % self._capacity
        if first <= last:
            self.bounds[first : last + 1, env, 1] = time
        else:
            self.bounds[first:, env, 1] = time
            self.bounds[: last + 1, env, 1] = time
        self._running[env, 0] = time + 1

    def state_dict(self, rows: int) -> State:
        """The rows in use; arrays as they are, not copied."""
        return {"bounds": self.bounds[:rows], "running": self._running}

    def load_state_dict(self, state: State) -> None:
        """Restore what `state_dict` returned."""
        self.bounds[: len(state["bounds"])] = state["bounds"]
        self._running[...] = state["running"]
