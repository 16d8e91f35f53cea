"""The tanh of a Gaussian over D actions: Haarnoja et al. 2018, arXiv 1801.01290, app. C.

u is the sample before squashing, and tanh(u) the action.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rlk.records import Array
from rlk_action_scaling import BoxUnits, scaled
from rlk_diag_gaussian import formulas

LOG_2 = math.log(2.0)
#: The largest float32 below 1, where tanh has no inverse.
LARGEST = 1.0 - 2.0**-24
#: Nodes of the trapezoidal rule, and how many standard deviations on either side they span.
NODES, WIDTH = 64, 5.0


def unsquashed(action: Tensor) -> Tensor:
    """u with tanh(u) = action, float [...]; at a bound, that of the largest number below 1."""
    return torch.atanh(action.clamp(-LARGEST, LARGEST))


def log_derivative(before: Tensor) -> Tensor:
    """log(d tanh(u) / du) = log(1 - tanh(u)^2), float [...].

    Computed as 2 (log 2 - u - softplus(-2u)), which does not overflow.
    """
    return 2.0 * (LOG_2 - before - F.softplus(-2.0 * before))


class GaussianMean:
    """E[f(u)] for u from N(mean, std), by the trapezoidal rule.

    With smooth functions its error falls exponentially in the number of nodes (Trefethen and
    Weideman 2014, doi:10.1137/130932132). For `log_derivative` it is below 0.0001 up to a standard
    deviation of 7.4, 0.01 at most up to 16, and then at most 0.003 times the standard deviation.
    """

    def __init__(self) -> None:
        nodes = np.linspace(-WIDTH, WIDTH, NODES)
        weights = np.exp(-0.5 * nodes * nodes)
        self._nodes = torch.from_numpy(nodes.astype(np.float32))
        self._weights = torch.from_numpy((weights / weights.sum()).astype(np.float32))

    def __call__(
        self, function: Callable[[Tensor], Tensor], mean: Tensor, log_std: Tensor
    ) -> Tensor:
        """For the mean and the logarithm of the standard deviation, float [...]."""
        nodes, weights = self._nodes.to(mean.device), self._weights.to(mean.device)
        before = mean.unsqueeze(-1) + log_std.exp().unsqueeze(-1) * nodes
        return function(before) @ weights


class SquashedActions:
    """Actions of a Box that are the tanh of a Gaussian, scaled to the bounds of the space.

    The Gaussian is given by its mean and log std before squashing, each float [..., D], which are
    used unchanged.

    Raises:
        PlanError: if a bound of the action space is infinite.
    """

    def __init__(self, action_space: Any) -> None:
        self._scaled = scaled(action_space)
        self._units = BoxUnits(action_space)
        self._gaussian_mean = GaussianMean()

    def sample_with_log_prob(
        self, mean: Tensor, log_std: Tensor, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(tanh(mean + std * noise) [..., D], log_prob [...]), both differentiable.

        The log-probability is computed from the Gaussian's own sample, so it is exact even where
        the action is rounded to 1 and `log_prob` could not recover it.
        """
        before = torch.addcmul(mean, log_std.exp(), noise)
        gaussian = formulas.log_density_of_noise(noise, log_std)
        return before.tanh(), gaussian - log_derivative(before).sum(-1)

    def log_prob(self, mean: Tensor, log_std: Tensor, action: Tensor) -> Tensor:
        """log N(u; mean, std) - sum(log(1 - a^2)) with u = atanh(a), eq. 21, float [...]."""
        before = unsquashed(action)
        return formulas.log_density(before, mean, log_std) - log_derivative(before).sum(-1)

    def entropy(self, mean: Tensor, log_std: Tensor) -> Tensor:
        """The mean of -log_prob, in nats, float [...]; there is no closed form.

        It is the Gaussian's entropy plus the mean of log(1 - tanh(u)^2), by quadrature.
        """
        squashing = self._gaussian_mean(log_derivative, mean, log_std)
        return formulas.entropy(log_std) + squashing.sum(-1)

    def env_action(self, action: Array) -> Array:
        """Scaled to the bounds of the space, [N, *shape]."""
        return self._scaled(action)

    def own_action(self, action: Tensor) -> Tensor:
        """The environment's action, -1 at the lower bound to 1 at the upper, float [..., D]."""
        return self._units.own(action)

    def probabilities(self, mean: Tensor, log_std: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the environment's action, each [B, *shape].

        By quadrature of tanh(u) and its square, because there is no closed form.
        """
        first = self._gaussian_mean(torch.tanh, mean, log_std)
        second = self._gaussian_mean(lambda before: before.tanh().square(), mean, log_std)
        spread = (second - first.square()).clamp(min=0.0).sqrt()
        return self._units.in_space(first), self._units.width_in_space(spread)

    def env_log_prob(self, mean: Tensor, log_std: Tensor, action: Tensor) -> Tensor:
        """The log-density of the environment's actions [B, *shape], which are scaled, [B].

        Outside of the bounds it is minus infinity.
        """
        found = self.log_prob(mean, log_std, self.own_action(action.flatten(1)))
        return self._units.log_density(found, action)
