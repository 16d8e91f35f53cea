"""The likelihood whose gradients make the Fisher matrix of an actor-critic.

Wu et al. 2017, arXiv 1708.05144, section 3.1: the Fisher matrix is E[g g^T] for gradients g of the
log-likelihood of samples from the *model*, so actions are drawn from the current policy, and
values from a Gaussian around the critic's, which makes the critic's part 4 weight^2 times its
Gauss-Newton matrix.

Shapes: B transitions, P a distribution's flat parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rlk_networks import Distribution


class SampledLikelihood:
    """E[log pi(a|s) - weight (V(s) - v)^2] for a and v drawn from the model itself, 0-dim.

    Args:
        distribution: of the actions.
        stream: returns the generator of samples; called at every use, so that a run whose optimiser
            needs no likelihood has no such stream.
    """

    def __init__(
        self, distribution: Distribution, stream: Callable[[], np.random.Generator]
    ) -> None:
        self.distribution, self._stream = distribution, stream

    def __call__(
        self, parameters: Tensor, value: Tensor | None = None, weight: float = 1.0
    ) -> Tensor:
        """The likelihood with its graph; no gradient flows through the samples.

        Args:
            parameters: float [B, P]. value: float [B], or None for a policy alone.
            weight: of the value's part, -(V - drawn)^2. Values are drawn from N(V, 1), as in Stable
                Baselines 2.10; a weight of 1/2 makes it the log-density of that Gaussian.
        """
        distribution, rng = self.distribution, self._stream()
        noise = torch.from_numpy(distribution.noise(rng, len(parameters))).to(parameters.device)
        action = distribution.sample(parameters.detach(), noise)
        likelihood = distribution.log_prob(parameters, action).mean()
        if value is None:
            return likelihood
        drawn = torch.from_numpy(rng.standard_normal(len(value), np.float32)).to(value.device)
        error = value - (value.detach() + drawn)
        return likelihood - weight * error.square().mean()
