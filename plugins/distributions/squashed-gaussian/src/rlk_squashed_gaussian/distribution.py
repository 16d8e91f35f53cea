"""The Gaussian squashed by tanh over D actions: Haarnoja et al. 2018, arXiv 1801.01290, app. C.

Flat parameters are [mean, log_std] of the Gaussian before squashing, float [..., 2D]; log_std is
taken between -20 and 2, as in Stable Baselines 2.10. Actions are its tanh, in -1 to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.records import Array, Field
from rlk_diag_gaussian import formulas
from rlk_networks import Distribution, Linear
from rlk_squashed_gaussian.squashing import SquashedActions

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0


class SquashedGaussian(Distribution):
    """Functions on [mean, log_std]. Actions are float32 [..., D], in -1 to 1.

    The environment gets actions scaled to the bounds of its space, which need not be symmetric.

    Raises:
        PlanError: if a bound of the action space is infinite.
    """

    def __init__(self, action_space: Any) -> None:
        self.size = int(np.prod(action_space.shape))
        self.parameter_size = 2 * self.size
        self.action = Field((self.size,), "float32")
        self._squashed = SquashedActions(action_space)

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

        Exact also where the action is rounded to 1 and `log_prob` could not recover it.
        """
        return self._squashed.sample_with_log_prob(*self._split(parameters), noise)

    def mode(self, parameters: Tensor) -> Tensor:
        """tanh(mean), float [..., D]: the median, with which Stable Baselines 2.10 acts."""
        return torch.tanh(parameters[..., : self.size])

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """log N(u; mean, std) - sum(log(1 - a^2)) with u = atanh(a), eq. 21, float [...]."""
        return self._squashed.log_prob(*self._split(parameters), action)

    def entropy(self, parameters: Tensor) -> Tensor:
        """The mean of -log_prob, in nats, float [...], by quadrature.

        The error is below 0.0001.
        """
        return self._squashed.entropy(*self._split(parameters))

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...].

        It is that of the Gaussians: an invertible map such as squashing does not change it.
        """
        return formulas.divergence(self._split(parameters), self._split(other))

    def gaussian(self, parameters: Tensor) -> Tensor:
        """[mean, log_std] of the actions before squashing, log_std within bounds, [..., 2D]."""
        return torch.cat(self._split(parameters), -1)

    def env_action(self, action: Array) -> Array:
        """Scaled to the bounds of the space, [N, *shape]."""
        return self._squashed.env_action(action)

    def own_action(self, action: Tensor) -> Tensor:
        """The environment's action, -1 at the lower bound to 1 at the upper, float [..., D]."""
        return self._squashed.own_action(action)

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the environment's action, each [B, *shape]."""
        return self._squashed.probabilities(*self._split(parameters))

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-density of the environment's actions [B, *shape], which are scaled, [B].

        Outside of the bounds it is minus infinity.
        """
        return self._squashed.env_log_prob(*self._split(parameters), action)

    def _split(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = parameters.chunk(2, -1)
        return mean, log_std.clamp(LOG_STD_MIN, LOG_STD_MAX)
