"""The final observations of a collection: a compact list, because few steps end an episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.protocols import State
from rlk.records import Array
from rlk_stored_steps.leaves import Leaf, observation_of


class Finals:
    """Final observations of one collection, in the order in which they came.

    The arrays double when they are full, because the number of episodes that end is not known.
    They keep their size for later collections.

    Attributes:
        count: F, the number of final observations.
    """

    def __init__(self, leaves: tuple[Leaf, ...]) -> None:
        self._leaves = leaves
        self.count = 0
        self._reserve(8)

    def _reserve(self, rows: int) -> None:
        self._time = np.zeros(rows, np.int64)
        self._env = np.zeros(rows, np.int64)
        self._observations = {
            leaf.key: np.zeros((rows, *leaf.shape), leaf.dtype) for leaf in self._leaves
        }

    def clear(self) -> None:
        """A new collection begins."""
        self.count = 0

    def append(self, time: int, env: int, observation: Any) -> None:
        """The episode of this environment ended with the step of this time; copied."""
        if self.count == len(self._time):
            state = self.state_dict()
            self._reserve(2 * self.count)
            self.load_state_dict(state)
        self._time[self.count] = time
        self._env[self.count] = env
        for key, store in self._observations.items():
            store[self.count] = observation if key is None else observation[key]
        self.count += 1

    def arrays(self) -> tuple[Array, Array, Any]:
        """Times [F], environments [F] and observations [F, ...], as views."""
        observations = [store[: self.count] for store in self._observations.values()]
        return (
            self._time[: self.count],
            self._env[: self.count],
            observation_of(self._leaves, observations),
        )

    def state_dict(self) -> State:
        """All of them, as views."""
        observations = [store[: self.count] for store in self._observations.values()]
        return {
            "time": self._time[: self.count],
            "env": self._env[: self.count],
            "observations": observations,
        }

    def load_state_dict(self, state: State) -> None:
        """Load the result of `state_dict`."""
        self.count = len(state["time"])
        if self.count > len(self._time):
            self._reserve(2 * self.count)
        self._time[: self.count] = state["time"]
        self._env[: self.count] = state["env"]
        saved = zip(self._observations.values(), state["observations"], strict=True)
        for store, values in saved:
            store[: self.count] = values
