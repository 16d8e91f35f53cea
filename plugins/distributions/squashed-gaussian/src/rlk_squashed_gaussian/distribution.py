"""The Gaussian squashed by tanh over D actions: Haarnoja et al. 2018, arXiv 1801.01290, app. C.

Flat parameters are [mean, log_std] of the Gaussian before squashing, float [..., 2D]; log_std is
taken between -20 and 2, as in Stable Baselines 2.10. Actions are its tanh, in -1 to 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.records import Array, Field
from rlk_action_scaling import middle_and_half, scaled
from rlk_networks import Distribution, Linear
from rlk_squashed_gaussian.squashing import GaussianMean, log_derivative, unsquashed

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class SquashedGaussian(Distribution):
    """Functions on [mean, log_std]. Actions are float32 [..., D], in -1 to 1.

    What the environment gets is scaled to the bounds of its space, which need not be symmetric.

    Raises:
        PlanError: if a bound of the action space is infinite.
    """

    def __init__(self, action_space: Any) -> None:
        self.size = int(np.prod(action_space.shape))
        self.parameter_size = 2 * self.size
        self.action = Field((self.size,), "float32")
        self._scaled = scaled(action_space)
        middle, half = middle_and_half(action_space)
        self._middle = torch.as_tensor(middle, dtype=torch.float32)
        self._half = torch.as_tensor(half, dtype=torch.float32)
        self._gaussian_mean = GaussianMean()

    def head(self, features: int) -> nn.Module:
        """Linear to the mean and log_std, which both depend on the state."""
        return Linear(features, self.parameter_size)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard normal, float32 [batch, D]."""
        return rng.standard_normal((batch, self.size), dtype=np.float32)

    def independent_noise(self, rng: np.random.Generator, batch: int) -> Array:
        """The same: no noise is held."""
        return self.noise(rng, batch)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """tanh(mean + std * noise), float [..., D]."""
        mean, log_std = self._split(parameters)
        return torch.tanh(torch.addcmul(mean, log_std.exp(), noise))

    def sample_with_log_prob(self, parameters: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """(action [..., D], log_prob [...]), both differentiable with respect to the parameters.

        The log-probability is computed from the Gaussian's own sample, so it is exact even where
        the action is rounded to 1 and `log_prob` could not recover it.
        """
        mean, log_std = self._split(parameters)
        before = torch.addcmul(mean, log_std.exp(), noise)
        density = 0.5 * noise.square() + log_std + HALF_LOG_2PI + log_derivative(before)
        return torch.tanh(before), -density.sum(-1)

    def mode(self, parameters: Tensor) -> Tensor:
        """tanh(mean), float [..., D]: the median, with which Stable Baselines 2.10 acts."""
        return torch.tanh(parameters[..., : self.size])

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """log N(u; mean, std) - sum(log(1 - a^2)) with u = atanh(a), eq. 21, float [...]."""
        mean, log_std = self._split(parameters)
        before = unsquashed(action)
        scaled = (before - mean) * (-log_std).exp()
        density = 0.5 * scaled.square() + log_std + HALF_LOG_2PI + log_derivative(before)
        return -density.sum(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """The mean of -log_prob, in nats, float [...]; there is no closed form.

        It is the Gaussian's entropy plus the mean of log(1 - tanh(u)^2), by Gauss-Hermite
        quadrature. The error is below 0.001 up to a standard deviation of 3, and 0.03 at most.
        """
        mean, log_std = self._split(parameters)
        squashing = self._gaussian_mean(log_derivative, mean, log_std)
        return (log_std + (HALF_LOG_2PI + 0.5) + squashing).sum(-1)

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...]: that of the Gaussians, which squashing keeps."""
        (m1, l1), (m2, l2) = self._split(parameters), self._split(other)
        spread = ((2 * l1).exp() + (m1 - m2).square()) * (-2 * l2).exp()
        return (l2 - l1 + 0.5 * spread - 0.5).sum(-1)

    def env_action(self, action: Array) -> Array:
        """Scaled to the bounds of the space, [N, *shape]."""
        return self._scaled(action)

    def own_action(self, action: Tensor) -> Tensor:
        """Of the environment's, float [..., D]: from -1 at the lower bound to 1 at the upper."""
        middle, half = self._middle.to(action.device), self._half.to(action.device)
        return (action - middle.flatten()) / half.flatten()

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the environment's action, each [B, *shape].

        By quadrature of tanh(u) and its square, as there is no closed form.
        """
        mean, log_std = self._split(parameters)
        first = self._gaussian_mean(torch.tanh, mean, log_std)
        second = self._gaussian_mean(lambda before: before.tanh().square(), mean, log_std)
        spread = (second - first.square()).clamp(min=0.0).sqrt()
        middle, half = self._middle.to(mean.device), self._half.to(mean.device)
        shape = (-1, *half.shape)
        return middle + half * first.reshape(shape), half * spread.reshape(shape)

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-density of the environment's actions [B, *shape], which are scaled, [B].

        Outside of the bounds it is minus infinity.
        """
        own = self.own_action(action.flatten(1))
        found = self.log_prob(parameters, own) - self._half.log().sum()
        return found.masked_fill((own.abs() > 1.0).any(-1), -math.inf)

    def _split(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = parameters.chunk(2, -1)
        return mean, log_std.clamp(LOG_STD_MIN, LOG_STD_MAX)
