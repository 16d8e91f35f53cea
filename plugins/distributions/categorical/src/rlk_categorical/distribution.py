"""The categorical distribution over A actions; flat parameters are logits, float [..., A].

Samples are drawn by the Gumbel-max trick (Gumbel 1954; Maddison et al. 2014, arXiv 1411.0030):
argmax(logits + g) with g from the standard Gumbel distribution. So the noise is an argument, and a
sample is one argmax.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.records import Array, Field
from rlk_networks import FORBIDDEN, Distribution, Linear


class Categorical(Distribution):
    """Functions on logits. Actions are int64 [...], numbered from the space's start."""

    def __init__(self, action_space: Any) -> None:
        self.parameter_size = self.mask_size = int(action_space.n)
        self.start = int(action_space.start)
        self.action = Field((), "int64")

    def head(self, features: int) -> nn.Module:
        """Linear to logits, with small initial weights: the first policy is nearly uniform."""
        return Linear(features, self.parameter_size, gain=0.01)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard Gumbel, float32 [batch, A]."""
        return rng.gumbel(size=(batch, self.parameter_size)).astype(np.float32)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """int64 [...] for logits and noise [..., A]."""
        return (parameters + noise).argmax(-1)

    def mode(self, parameters: Tensor) -> Tensor:
        """The most likely action, int64 [...]."""
        return parameters.argmax(-1)

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """log softmax(logits)[action], float [...]."""
        log_p = torch.log_softmax(parameters, -1)
        return log_p.gather(-1, action.long().unsqueeze(-1)).squeeze(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """-sum p log p, in nats, float [...]."""
        log_p = torch.log_softmax(parameters, -1)
        return -(log_p.exp() * log_p).sum(-1)

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other) = sum p (log p - log q), float [...]."""
        log_p, log_q = torch.log_softmax(parameters, -1), torch.log_softmax(other, -1)
        return (log_p.exp() * (log_p - log_q)).sum(-1)

    def masked(self, parameters: Tensor, mask: Tensor) -> Tensor:
        """The logits of allowed actions, [..., A] for a mask [..., A], with `FORBIDDEN` elsewhere.

        Huang and Ontanon 2022, arXiv 2006.14171, section 3.
        """
        return parameters.masked_fill(mask == 0, FORBIDDEN)

    def env_action(self, action: Array) -> Array:
        """The action, numbered from the space's start."""
        return action + self.start if self.start else action

    def probabilities(self, parameters: Tensor) -> Tensor:
        """softmax(logits), of every action in the order of the space, [..., A]."""
        return torch.softmax(parameters, -1)

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """As `log_prob`, of actions numbered from the space's start."""
        return self.log_prob(parameters, action - self.start)
