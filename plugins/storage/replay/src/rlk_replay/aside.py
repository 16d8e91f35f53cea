"""Next observations that are not in the following slot: final ones, and the latest."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from rlk.protocols import State
from rlk.records import Array
from rlk_stored_steps.leaves import Leaf


class Aside:
    """A side table of observations; a record names the row that it uses.

    Rows 0 to N-1 hold what follows the newest step of each environment, so the newest transition
    can be sampled and is no special case. The rows behind hold what episodes ended on. They are
    freed when the slot that uses them is overwritten, which happens in the order in which they were
    taken.

    How many episodes end among the transitions kept is not known beforehand, and in the worst case
    it is all of them. So the table starts small and doubles when it is full: the one exception to
    memory being allocated once, and it happens a few times per run at most.

    Attributes:
        stores: [rows, ...] per leaf of the observation.
        latest: [N, ...] per leaf, views of the first rows. A `keep` may replace both.
    """

    def __init__(self, leaves: tuple[Leaf, ...], n_envs: int) -> None:
        rows = n_envs + max(16, n_envs)
        self._n_envs = n_envs
        self.stores: list[Array] = [np.zeros((rows, *leaf.shape), leaf.dtype) for leaf in leaves]
        self.latest: list[Array] = [store[:n_envs] for store in self.stores]
        self._free = list(range(rows - 1, n_envs - 1, -1))
        self._taken: deque[tuple[int, int]] = deque()  # (time of the step, row), oldest first

    def keep(self, time: int, values: tuple[Any, ...]) -> int:
        """The row that now holds this observation, until the step of that time is overwritten."""
        if not self._free:
            rows = len(self.stores[0])
            self._resize(2 * rows)
            self._free.extend(range(2 * rows - 1, rows - 1, -1))
        row = self._free.pop()
        self._taken.append((time, row))
        for store, value in zip(self.stores, values, strict=True):
            store[row] = value
        return row

    def release(self, time: int) -> None:
        """Free the rows of the steps up to this time."""
        while self._taken and self._taken[0][0] <= time:
            self._free.append(self._taken.popleft()[1])

    def _resize(self, rows: int) -> None:
        for i, store in enumerate(self.stores):
            kept = min(rows, len(store))
            self.stores[i] = np.zeros((rows, *store.shape[1:]), store.dtype)
            self.stores[i][:kept] = store[:kept]
        self.latest = [store[: self._n_envs] for store in self.stores]

    def state_dict(self) -> State:
        """Arrays as they are, not copied."""
        return {
            "observations": list(self.stores),
            "taken": np.array(self._taken, dtype=np.int64).reshape(-1, 2),
            "free": np.array(self._free, dtype=np.int64),
        }

    def load_state_dict(self, state: State) -> None:
        """Take over what `state_dict` gave."""
        self._resize(len(state["observations"][0]))
        for store, saved in zip(self.stores, state["observations"], strict=True):
            store[...] = saved
        self._taken = deque((time, row) for time, row in state["taken"].tolist())
        self._free = state["free"].tolist()
