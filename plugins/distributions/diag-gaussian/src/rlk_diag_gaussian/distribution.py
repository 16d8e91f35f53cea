"""The Gaussian with a diagonal covariance over D actions.

Flat parameters are [mean, log_std], float [..., 2D]. The standard deviation is a separate
parameter, the same in all states, as in Stable Baselines 2.10.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.records import Array, Field
from rlk_diag_gaussian import formulas
from rlk_diag_gaussian.config import DiagGaussianConfig
from rlk_networks import Distribution, Linear


class DiagGaussian(Distribution):
    """Functions on [mean, log_std]. Actions are float32 [..., D], without bounds.

    The environment gets actions clipped to the bounds of its space.
    """

    def __init__(self, action_space: Any, config: DiagGaussianConfig | None = None) -> None:
        self.config = config or DiagGaussianConfig()
        self.size = int(np.prod(action_space.shape))
        self.parameter_size = 2 * self.size
        self.action = Field((self.size,), "float32")
        self._low, self._high = action_space.low, action_space.high
        self._shape = action_space.shape

    def head(self, features: int) -> nn.Module:
        """A linear mean with small initial weights, and one log_std for all states."""
        return GaussianHead(features, self.size, self.config.log_std_init)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard normal, float32 [batch, D]."""
        return rng.standard_normal((batch, self.size), dtype=np.float32)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """mean + std * noise, float [..., D]."""
        mean, log_std = parameters.chunk(2, -1)
        return mean + log_std.exp() * noise

    def mode(self, parameters: Tensor) -> Tensor:
        """The mean, float [..., D]."""
        return parameters[..., : self.size]

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-density of actions [..., D], float [...]."""
        return formulas.log_density(action, *parameters.chunk(2, -1))

    def entropy(self, parameters: Tensor) -> Tensor:
        """In nats, float [...]."""
        return formulas.entropy(parameters[..., self.size :])

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...]."""
        (m1, l1), (m2, l2) = parameters.chunk(2, -1), other.chunk(2, -1)
        return formulas.divergence((m1, l1), (m2, l2))

    def env_action(self, action: Array) -> Array:
        """Clipped into the space's bounds, in its shape, [N, *shape]."""
        found = np.clip(action.reshape(-1, *self._shape), self._low, self._high)
        return found.astype(self._low.dtype, copy=False)  # float32 and float16 bounds give float32

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation before clipping, each [B, *shape]."""
        mean, log_std = parameters.chunk(2, -1)
        return mean.reshape(-1, *self._shape), log_std.exp().reshape(-1, *self._shape)

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """As `log_prob`, of actions [B, *shape]; at a bound, not the probability of clipping."""
        return self.log_prob(parameters, action.flatten(1))


class GaussianHead(nn.Module):
    """[B, F] to [B, 2D]: a linear mean, and log_std, which is the same in every row."""

    def __init__(self, features: int, size: int, log_std_init: float) -> None:
        super().__init__()
        self.mean = Linear(features, size, gain=0.01)
        self.log_std = nn.Parameter(torch.full((size,), float(log_std_init)))

    def forward(self, features: Tensor) -> Tensor:
        mean = self.mean(features)
        return torch.cat([mean, self.log_std.expand_as(mean)], -1)
