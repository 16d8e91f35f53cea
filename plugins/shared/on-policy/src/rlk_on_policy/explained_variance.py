"""How much of the variance of returns the values predicted."""

from __future__ import annotations

import numpy as np

from rlk.records import Array


def explained_variance(predicted: Array, actual: Array) -> float:
    """1 - Var[actual - predicted] / Var[actual]: 1 is perfect, 0 as good as a constant.

    NaN if the actual returns are all the same.
    """
    total = np.var(actual, dtype=np.float64)
    if total == 0.0:
        return float("nan")
    return 1.0 - float(np.var(actual - predicted, dtype=np.float64) / total)
