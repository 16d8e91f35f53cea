"""`RunningMeanStd`: mean and variance of what has been seen so far."""

from __future__ import annotations

import numpy as np

from rlk.records import Array


class RunningMeanStd:
    """Moments that batches are merged into, by the formula of Chan, Golub and LeVeque (1979).

    Args:
        epsilon: the weight, in rows, of the mean 0 and variance 1 that it starts with.
        shape: of one row.

    Attributes:
        mean, var: float64 [*shape].
        count: rows so far, that weight included.
    """

    def __init__(self, epsilon: float = 1e-4, shape: tuple[int, ...] = ()) -> None:
        self.mean: Array = np.zeros(shape, np.float64)
        self.var: Array = np.ones(shape, np.float64)
        self.count = epsilon

    def update(self, arr: Array) -> None:
        """Merge rows [B, *shape]."""
        rows = np.asarray(arr, np.float64)
        self.update_from_moments(rows.mean(axis=0), rows.var(axis=0), len(rows))

    def update_from_moments(self, batch_mean: Array, batch_var: Array, batch_count: float) -> None:
        """Merge rows of which these are mean, variance and number."""
        delta, total = batch_mean - self.mean, self.count + batch_count
        squares = self.var * self.count + batch_var * batch_count
        squares = squares + np.square(delta) * self.count * batch_count / total
        self.mean = self.mean + delta * batch_count / total
        self.var, self.count = squares / total, total
