"""K independent Bernoulli distributions; flat parameters are their logits, float [..., K].

Given the observation, switches are independent, so log-probabilities, entropies and divergences
are sums over K. A switch is on where its logit plus standard logistic noise is above zero; that
noise is the difference of the two Gumbel variables of the Gumbel-max trick (Maddison et al. 2014,
arXiv 1411.0030).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk.records import Array, Field
from rlk_networks import FORBIDDEN, Distribution, Linear


class Bernoulli(Distribution):
    """Functions on logits log(p / (1 - p)). Actions are int8 [..., K], 0 or 1.

    A space of several axes is flattened.
    """

    def __init__(self, action_space: Any) -> None:
        self._shape = action_space.shape
        self.parameter_size = math.prod(self._shape)
        self.mask_size = 2 * self.parameter_size
        self.action = Field((self.parameter_size,), "int8")

    def head(self, features: int) -> nn.Module:
        """Linear, with small initial weights: at first every switch is on half of the time."""
        return Linear(features, self.parameter_size, gain=0.01)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard logistic, float32 [batch, K]."""
        return rng.logistic(size=(batch, self.parameter_size)).astype(np.float32)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """int8 [..., K] for logits and noise [..., K]."""
        return (parameters + noise > 0).to(torch.int8)

    def mode(self, parameters: Tensor) -> Tensor:
        """On where that is more likely than off, int8 [..., K]."""
        return (parameters > 0).to(torch.int8)

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The sum over K of a * logit - log(1 + exp(logit)), float [...]."""
        return (action.to(parameters.dtype) * parameters - F.softplus(parameters)).sum(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """The sum over K of log(1 + exp(logit)) - p * logit, in nats, float [...]."""
        return (F.softplus(parameters) - torch.sigmoid(parameters) * parameters).sum(-1)

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...].

        The sum over K of p (l1 - l2) + log(1 + exp(l2)) - log(1 + exp(l1)), with p = sigmoid(l1).
        """
        difference = F.softplus(other) - F.softplus(parameters)
        return (torch.sigmoid(parameters) * (parameters - other) + difference).sum(-1)

    def masked(self, parameters: Tensor, mask: Tensor) -> Tensor:
        """The logits [..., K] for a mask [..., 2K]: whether each switch may be off and may be on.

        A switch that must be off has the logit `FORBIDDEN`, one that must be on its negative.
        """
        off, on = mask[..., ::2], mask[..., 1::2]
        return parameters.masked_fill(on == 0, FORBIDDEN).masked_fill(off == 0, -FORBIDDEN)

    def env_action(self, action: Array) -> Array:
        """The action in the space's shape, int8 [N, *shape]."""
        return action.reshape(-1, *self._shape)

    def probabilities(self, parameters: Tensor) -> Tensor:
        """The probability of every switch being on, sigmoid(logits), [B, *shape]."""
        return torch.sigmoid(parameters).reshape(-1, *self._shape)

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """As `log_prob`, of actions [B, *shape] in the shape of the space."""
        return self.log_prob(parameters, action.flatten(1))
