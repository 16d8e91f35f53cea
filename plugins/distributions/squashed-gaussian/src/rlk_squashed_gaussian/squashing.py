"""What tanh does to a density over D actions: Haarnoja et al. 2018, arXiv 1801.01290, app. C.

u is before squashing, and tanh(u) the action.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

LOG_2 = math.log(2.0)
#: The largest float32 below 1, where tanh has no inverse.
LARGEST = 1.0 - 2.0**-24
#: Nodes of the Gauss-Hermite quadrature.
NODES = 64


def unsquashed(action: Tensor) -> Tensor:
    """u with tanh(u) = action, float [...]; at a bound, that of the largest number below 1."""
    return torch.atanh(action.clamp(-LARGEST, LARGEST))


def log_derivative(before: Tensor) -> Tensor:
    """log(d tanh(u) / du) = log(1 - tanh(u)^2), float [...].

    Computed as 2 (log 2 - u - softplus(-2u)), which does not overflow.
    """
    return 2.0 * (LOG_2 - before - F.softplus(-2.0 * before))


class GaussianMean:
    """E[f(u)] for u from N(mean, std), by Gauss-Hermite quadrature.

    For `log_derivative` the error is below 0.001 up to a standard deviation of 3, and 0.03 at most
    at one of 7.4.
    """

    def __init__(self) -> None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        self._nodes = torch.from_numpy(nodes.astype(np.float32))
        self._weights = torch.from_numpy((weights / weights.sum()).astype(np.float32))

    def __call__(
        self, function: Callable[[Tensor], Tensor], mean: Tensor, log_std: Tensor
    ) -> Tensor:
        """For the mean and the logarithm of the standard deviation, float [...]."""
        nodes, weights = self._nodes.to(mean.device), self._weights.to(mean.device)
        before = mean.unsqueeze(-1) + log_std.exp().unsqueeze(-1) * nodes
        return function(before) @ weights
