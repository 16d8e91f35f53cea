"""Running mean and variance: Chan, Golub and LeVeque 1979 (Stanford STAN-CS-79-773), eq. 2.1.

K numbers per row, n rows. Everything is float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlk.records import Array


class Moments:
    """Mean and (population) variance of rows, float64 [K], and the number of these rows.

    Args:
        mean, var, count: float64 [K], [K] and [1], written in place: they may be views of other
            memory.

    Attributes:
        mean, var, count_array: these arrays themselves; `count` is the number in the last.
    """

    def __init__(self, mean: Array, var: Array, count: Array) -> None:
        self.mean, self.var, self.count_array = mean, var, count

    @property
    def count(self) -> float:
        return float(self.count_array[0])

    def merge(self, mean: Array | float, var: Array | float, count: float) -> None:
        """Add rows with these moments."""
        if count == 0:
            return
        before = self.count
        total = before + count
        delta = mean - self.mean
        squares = self.var * before + var * count + delta * delta * (before * count / total)
        self.mean += delta * (count / total)
        self.var[:] = squares / total
        self.count_array[0] = total


class Fresh:
    """Rows since the last merge, as sums of their differences from the first row.

    A step costs a subtraction, a product and two sums, whatever the number of rows.
    """

    def __init__(self, size: int) -> None:
        self._shift, self._sum, self._squares = np.zeros((3, size))
        self.count = 0

    def add(self, rows: Array) -> None:
        """Add rows [n, K], unless one of them is not finite."""
        if not self.count:
            self._shift[:] = rows[0]
        difference = rows - self._shift
        total = np.add.reduce(difference, axis=0)
        squares = np.add.reduce(difference * difference, axis=0)
        if not math.isfinite(np.add.reduce(squares)):
            return
        self._sum += total
        self._squares += squares
        self.count += len(rows)

    def moments(self) -> tuple[Array, Array, float]:
        """(mean, var, count), as `Moments.merge` takes them; zeros if there are no rows."""
        if not self.count:
            return np.zeros_like(self._sum), np.zeros_like(self._sum), 0.0
        mean = self._sum / self.count
        var = np.maximum(self._squares / self.count - mean * mean, 0.0)
        return self._shift + mean, var, float(self.count)

    def clear(self) -> None:
        self._sum[:] = self._squares[:] = 0.0
        self.count = 0

    def state_dict(self) -> dict[str, Any]:
        sums = np.stack([self._shift, self._sum, self._squares])
        return {"sums": sums, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._shift[:], self._sum[:], self._squares[:] = np.asarray(state["sums"])
        self.count = int(state["count"])
