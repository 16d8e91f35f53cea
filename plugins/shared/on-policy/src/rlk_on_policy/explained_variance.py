"""How much of the variance of returns the values predicted."""

from __future__ import annotations

import numpy as np

from rlk.records import Array


def explained_variance(predicted: Array, actual: Array) -> float:
    """1 - Var[actual - predicted] / Var[actual]: 1 is perfect, 0 as good as a constant.

    NaN if the actual returns are all the same.
    """
    total = _squares(actual)
    if total == 0.0:
        return float("nan")
    return 1.0 - _squares(actual - predicted) / total


def _squares(x: Array) -> float:
    """The sum of squared differences from the mean; `np.var` takes three times as long."""
    centred = x - np.add.reduce(x, axis=None, dtype=np.float64) / x.size
    return float(np.vdot(centred, centred))
