"""Generalised state-dependent exploration: Raffin, Kober and Stulp 2020, arXiv 2005.05719.

An action is mu(s) + sum_f x_f theta_f with features x of the state and weights theta_fd drawn from
N(0, sigma_fd^2), which are held for many steps. Over the draws it is Gaussian, with the variance
sum_f x_f^2 sigma_fd^2 in dimension d: the noise changes with the state, not from step to step.

Shapes: F features, D action dimensions. Flat parameters are [mean, x_f sigma_fd], [..., D + F * D].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.errors import RlkError
from rlk.records import Array
from rlk_diag_gaussian import formulas
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_gsde.config import GSDEConfig
from rlk_gsde.head import NoiseHead
from rlk_networks import Distribution
from rlk_squashed_gaussian.squashing import SquashedActions

#: Added to the variance of an action, so that it has a density where all features are 0.
EPSILON = 1e-6


class GSDE(Distribution):
    """Functions on [mean, x_f sigma_fd]. Actions are float32 [..., D].

    With `squash_output` they are the tanh of the above, in -1 to 1, and the environment gets them
    scaled to its bounds; otherwise clipped to them.

    Attributes:
        hold_steps: for how many steps the actor holds one draw of noise; None: for a collection.

    Raises:
        PlanError: if a bound of the action space is infinite and actions are to be squashed.
    """

    def __init__(self, action_space: Any, config: GSDEConfig | None = None) -> None:
        self.config = config or GSDEConfig()
        self.hold_steps = None if self.config.sample_freq == -1 else self.config.sample_freq
        self.squashes = self.config.squash_output
        self._plain = DiagGaussian(action_space)
        self._squashed = SquashedActions(action_space) if self.squashes else None
        self.size, self.action = self._plain.size, self._plain.action
        self._features: int | None = None

    @property
    def features(self) -> int:
        """F, which is known once there is a head.

        Raises:
            RlkError: if there is none.
        """
        if self._features is None:
            raise RlkError(
                "distribution 'gsde' (rlk-gsde) has a weight of noise for every feature of its "
                "head. Call head(features) first."
            )
        return self._features

    @property
    def parameter_size(self) -> int:  # type: ignore[override]
        """D + F * D, once there is a head."""
        return self.size + self.features * self.size

    def head(self, features: int) -> nn.Module:
        """A linear mean with small initial weights, and the deviations of the noise."""
        self._features = features
        return NoiseHead(features, self.size, self.config)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard normal weights, float32 [batch, F, D], which sigma scales."""
        return rng.standard_normal((batch, self.features, self.size), dtype=np.float32)

    def independent_noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard normal, float32 [batch, D]: equivalent to separate weights for every row.

        Over the draws an action is Gaussian, so D numbers replace F * D weights, and the gradient
        has less variance (Kingma et al. 2015, arXiv 1506.02557, section 2.2).
        """
        return rng.standard_normal((batch, self.size), dtype=np.float32)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """mean + sum_f x_f sigma_fd noise_fd, squashed or not, float [..., D]."""
        mean, weighted = self._split(parameters)
        before = mean + (weighted * noise).sum(-2)
        return before.tanh() if self.squashes else before

    def sample_with_log_prob(self, parameters: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """(action [..., D], log_prob [...]), both differentiable with respect to the parameters.

        Exact also where a squashed action is rounded to 1 and `log_prob` could not recover it.

        Args:
            noise: float [..., D], of `independent_noise`.
        """
        mean, log_std = self._gaussian(parameters)
        if self._squashed is not None:
            return self._squashed.sample_with_log_prob(mean, log_std, noise)
        action = torch.addcmul(mean, log_std.exp(), noise)
        return action, formulas.log_density_of_noise(noise, log_std)

    def mode(self, parameters: Tensor) -> Tensor:
        """The mean; squashed, its tanh, which is the median, float [..., D]."""
        mean = parameters[..., : self.size]
        return mean.tanh() if self.squashes else mean

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """log N(a; mean, std), float [...]; squashed, of atanh(a) and less log(1 - a^2)."""
        mean, log_std = self._gaussian(parameters)
        if self._squashed is not None:
            return self._squashed.log_prob(mean, log_std, action)
        return formulas.log_density(action, mean, log_std)

    def entropy(self, parameters: Tensor) -> Tensor:
        """The Gaussian's, in nats, float [...]; squashed, plus E[log(1 - a^2)] by quadrature."""
        mean, log_std = self._gaussian(parameters)
        if self._squashed is not None:
            return self._squashed.entropy(mean, log_std)
        return formulas.entropy(log_std)

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...].

        It is that of the Gaussians: an invertible map such as squashing does not change it.
        """
        return formulas.divergence(self._gaussian(parameters), self._gaussian(other))

    def gaussian(self, parameters: Tensor) -> Tensor:
        """[mean, log std] of the actions before squashing, over all draws, float [..., 2D]."""
        return torch.cat(self._gaussian(parameters), -1)

    def env_action(self, action: Array) -> Array:
        """Clipped into the bounds of the space, or scaled to them, [N, *shape]."""
        return (self._squashed or self._plain).env_action(action)

    def own_action(self, action: Tensor) -> Tensor:
        """The environment's action, from -1 to 1 if actions are squashed, float [..., D]."""
        return action if self._squashed is None else self._squashed.own_action(action)

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of actions over all draws, each [B, *shape].

        If actions are clipped into the space, those before clipping.
        """
        if self._squashed is not None:
            return self._squashed.probabilities(*self._gaussian(parameters))
        return self._plain.probabilities(self.gaussian(parameters))

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-density of the environment's actions [B, *shape] over all draws, [B]."""
        if self._squashed is not None:
            return self._squashed.env_log_prob(*self._gaussian(parameters), action)
        return self._plain.env_log_prob(self.gaussian(parameters), action)

    def _gaussian(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log std of the actions before squashing, over all draws, each [..., D]."""
        mean, weighted = self._split(parameters)
        return mean, 0.5 * (weighted.square().sum(-2) + EPSILON).log()

    def _split(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """The mean [..., D], and x_f sigma_fd [..., F, D]."""
        rest = parameters.shape[-1] - self.size
        mean, weighted = parameters.split_with_sizes([self.size, rest], -1)
        return mean, weighted.reshape(*weighted.shape[:-1], -1, self.size)
