"""`RunningMeanStd`: the running mean and variance of all data so far."""

from __future__ import annotations

import copy

import numpy as np

from rlk.records import Array


class RunningMeanStd:
    """Running mean and variance, updated by batches: Chan, Golub and LeVeque 1979.

    Args:
        epsilon: the weight of the initial mean 0 and variance 1, in rows.
        shape: the shape of one row.

    Attributes:
        mean, var: float64 [*shape].
        count: the number of rows so far, plus `epsilon`.
    """

    def __init__(self, epsilon: float = 1e-4, shape: tuple[int, ...] = ()) -> None:
        self.mean: Array = np.zeros(shape, np.float64)
        self.var: Array = np.ones(shape, np.float64)
        self.count = epsilon

    def update(self, arr: Array) -> None:
        """Include a batch of rows, [B, *shape]."""
        rows = np.asarray(arr, np.float64)
        self.update_from_moments(rows.mean(axis=0), rows.var(axis=0), len(rows))

    def update_from_moments(self, batch_mean: Array, batch_var: Array, batch_count: float) -> None:
        """Include a batch of `batch_count` rows with this mean and variance, [*shape]."""
        delta, total = batch_mean - self.mean, self.count + batch_count
        squares = self.var * self.count + batch_var * batch_count
        squares = squares + np.square(delta) * self.count * batch_count / total
        self.mean = self.mean + delta * batch_count / total
        self.var, self.count = squares / total, total

    def combine(self, other: RunningMeanStd) -> None:
        """Merge what another one has seen."""
        self.update_from_moments(other.mean, other.var, other.count)

    def copy(self) -> RunningMeanStd:
        """One of its own with the same moments."""
        return copy.deepcopy(self)
