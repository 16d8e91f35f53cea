"""Observations outside the order of steps: the last ones of episodes, and the latest ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from rlk.protocols import State
from rlk.records import Array
from rlk_stored_steps.leaves import Leaf


class SideTable:
    """A side table of observations; a record names the row that it uses.

    The first rows, one for each environment, can hold the observations after the newest step, so
    that the newest transition is sampled like any other. The other rows hold the last observations
    of episodes. A row is freed when the record that uses it is overwritten, which happens in the
    order in which the rows were taken.

    The number of episodes that end among the stored transitions is not known beforehand; in the
    worst case, all of them end one. So the table starts small and doubles when it is full, which
    happens a few times per run at most.

    Args:
        leaves: of the observation.
        n_latest: N, the number of rows for the observations after the newest step; 0 if these are
            kept elsewhere.
        zeros: the function that allocates arrays, `zeros(shape, dtype)`.
        larger: the same, for the larger arrays that replace them; None means `zeros`.

    Attributes:
        stores: [rows, ...] per leaf of the observation.
        latest: [N, ...] per leaf, views of the first rows. `reserve` and `keep` may replace both.
    """

    def __init__(
        self,
        leaves: tuple[Leaf, ...],
        n_latest: int = 0,
        zeros: Callable[[tuple[int, ...], Any], Array] = np.zeros,
        larger: Callable[[tuple[int, ...], Any], Array] | None = None,
    ) -> None:
        rows = n_latest + max(16, n_latest)
        self._n_latest, self._larger = n_latest, larger or zeros
        self.stores: list[Array] = [zeros((rows, *leaf.shape), leaf.dtype) for leaf in leaves]
        self.latest: list[Array] = [store[:n_latest] for store in self.stores]
        self._free = list(range(rows - 1, n_latest - 1, -1))
        self._taken: deque[tuple[int, int]] = deque()  # (time, row), oldest first

    def reserve(self, observations: int) -> bool:
        """Make room for so many more observations; returns whether the arrays were replaced.

        If there is no memory for it, the table stays as it was.
        """
        if len(self._free) >= observations:
            return False
        before = rows = len(self.stores[0])
        while len(self._free) + rows - before < observations:
            rows *= 2
        self._resize(rows)
        self._free.extend(range(rows - 1, before - 1, -1))
        return True

    def keep(self, time: int, values: tuple[Any, ...]) -> int:
        """Store an observation; returns its row, which is in use until `time` is released."""
        if not self._free:
            self.reserve(1)
        row = self._free.pop()
        self._taken.append((time, row))
        for store, value in zip(self.stores, values, strict=True):
            store[row] = value
        return row

    def release(self, time: int) -> None:
        """Free the rows of all times up to this one."""
        while self._taken and self._taken[0][0] <= time:
            self._free.append(self._taken.popleft()[1])

    def _resize(self, rows: int) -> None:
        resized = [self._larger((rows, *store.shape[1:]), store.dtype) for store in self.stores]
        for store, old in zip(resized, self.stores, strict=True):
            kept = min(rows, len(old))
            store[:kept] = old[:kept]
        self.stores = resized
        self.latest = [store[: self._n_latest] for store in self.stores]

    def state_dict(self) -> State:
        """The arrays themselves, not copies."""
        return {
            "observations": list(self.stores),
            "taken": np.array(self._taken, dtype=np.int64).reshape(-1, 2),
            "free": np.array(self._free, dtype=np.int64),
        }

    def load_state_dict(self, state: State) -> None:
        """Take over the arrays that `state_dict` returned."""
        self._resize(len(state["observations"][0]))
        for store, saved in zip(self.stores, state["observations"], strict=True):
            store[...] = saved
        self._taken = deque((time, row) for time, row in state["taken"].tolist())
        self._free = state["free"].tolist()
