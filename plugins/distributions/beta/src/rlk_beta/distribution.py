"""The beta distribution over D actions between bounds: Chou, Maturana and Scherer 2017 (ICML).

(Improving stochastic policy gradients in continuous control with deep reinforcement learning using
the beta distribution, PMLR 70:834-843.) Flat parameters are [x, y], float [..., 2D], with

    alpha = 1 + softplus(x),    beta = 1 + softplus(y),

so that both are above 1 and the density has one peak, inside the bounds. Actions are in 0 to 1,
and independent of each other given the observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk.records import Array, Field
from rlk_action_scaling import BoxUnits, scaled
from rlk_beta.gamma import gamma, gamma_noise
from rlk_networks import Distribution, Linear

#: The least distance of an action from a bound, where the density may be 0 and its log infinite.
NEAREST = 2.0**-24


class Beta(Distribution):
    """Functions on [x, y]. Actions are float32 [..., D], in 0 to 1, bounds excluded.

    The environment gets actions scaled to the bounds of its space. Formulas with logarithms of the
    gamma function are computed in float64: they subtract large numbers from each other, and if
    the density is narrow (alpha = 10,000) float32 would leave an error of 0.005.

    Raises:
        PlanError: if a bound of the action space is infinite.
    """

    def __init__(self, action_space: Any) -> None:
        self.size = int(np.prod(action_space.shape))
        self.parameter_size = 2 * self.size
        self.action = Field((self.size,), "float32")
        self._scaled = scaled(action_space)
        self._units = BoxUnits(action_space, low=0.0, high=1.0)

    def head(self, features: int) -> nn.Module:
        """Linear, with small initial weights: alpha and beta begin near 1.69, a broad hill."""
        return Linear(features, self.parameter_size, gain=0.01)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Noise for two gamma variates of each action, float32 [batch, 2, 8, 2D]: `gamma.py`."""
        return gamma_noise(rng, batch, self.parameter_size)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """G(alpha) / (G(alpha) + G(beta)) of two gamma variates, float [..., D].

        No gradient flows through it, because the choice of the accepted candidate is not smooth.
        """
        variates = gamma(1.0 + F.softplus(parameters), noise)
        first, second = variates.chunk(2, -1)
        return (first / (first + second)).clamp(NEAREST, 1.0 - NEAREST)

    def mode(self, parameters: Tensor) -> Tensor:
        """(alpha - 1) / (alpha + beta - 2), float [..., D]; the middle where both are 1."""
        a, b = F.softplus(parameters).clamp(min=1e-30).chunk(2, -1)
        return a / (a + b)

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The sum of (alpha - 1) log a + (beta - 1) log(1 - a) - log B(alpha, beta), float [...].

        At a bound it is that of the nearest action inside.
        """
        a, b = above_one(parameters)
        inside = action.double().clamp(NEAREST, 1.0 - NEAREST)
        density = a * inside.log() + b * torch.log1p(-inside) - log_b(a, b)
        return density.sum(-1).to(parameters.dtype)

    def entropy(self, parameters: Tensor) -> Tensor:
        """In nats, float [...].

        The sum of log B - (alpha - 1) psi(alpha) - (beta - 1) psi(beta) + (alpha + beta - 2)
        psi(alpha + beta), with psi the digamma function.
        """
        a, b = above_one(parameters)
        means = a * torch.digamma(1 + a) + b * torch.digamma(1 + b)
        found = log_b(a, b) - means + (a + b) * torch.digamma(2 + a + b)
        return found.sum(-1).to(parameters.dtype)

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...].

        The sum of log B2 - log B1 + (alpha1 - alpha2) psi(alpha1) + (beta1 - beta2) psi(beta1)
        + (alpha2 - alpha1 + beta2 - beta1) psi(alpha1 + beta1).
        """
        (a1, b1), (a2, b2) = above_one(parameters), above_one(other)
        da, db = a1 - a2, b1 - b2
        means = da * torch.digamma(1 + a1) + db * torch.digamma(1 + b1)
        found = log_b(a2, b2) - log_b(a1, b1) + means - (da + db) * torch.digamma(2 + a1 + b1)
        return found.sum(-1).to(parameters.dtype)

    def env_action(self, action: Array) -> Array:
        """Scaled to the bounds of the space, [N, *shape]."""
        return self._scaled(2.0 * action - 1.0)

    def own_action(self, action: Tensor) -> Tensor:
        """The environment's action, from 0 at the lower bound to 1 at the upper, float [..., D]."""
        return self._units.own(action)

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the environment's action, each [B, *shape].

        The mean is m = alpha / (alpha + beta), the variance m (1 - m) / (alpha + beta + 1), both
        scaled.
        """
        a, b = above_one(parameters)
        mean = (1 + a) / (2 + a + b)
        spread = (mean * (1 - mean) / (3 + a + b)).sqrt()
        mean, spread = mean.to(parameters.dtype), spread.to(parameters.dtype)
        return self._units.in_space(mean), self._units.width_in_space(spread)

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-density of the environment's actions [B, *shape], which are scaled, [B].

        Outside of the bounds it is minus infinity.
        """
        found = self.log_prob(parameters, self.own_action(action.flatten(1)))
        return self._units.log_density(found, action)


def above_one(parameters: Tensor) -> tuple[Tensor, Tensor]:
    """alpha - 1 and beta - 1 of flat parameters [..., 2D], float64 [..., D]."""
    a, b = F.softplus(parameters.double()).chunk(2, -1)
    return a, b


def log_b(a: Tensor, b: Tensor) -> Tensor:
    """log B(1 + a, 1 + b), the logarithm of the beta function, float [...]."""
    return torch.lgamma(1 + a) + torch.lgamma(1 + b) - torch.lgamma(2 + a + b)
