"""K independent categorical distributions; flat parameters are their concatenated logits.

Shapes: K choices of n_k options each, S = sum n_k, M = max n_k. Given the observation, choices are
independent, so log-probabilities, entropies and divergences are sums over K. Samples are drawn by
the Gumbel-max trick (Gumbel 1954; Maddison et al. 2014, arXiv 1411.0030).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk.records import Array, Field
from rlk_networks import FORBIDDEN, Distribution, Linear

#: The logit of an option that a choice lacks. Not minus infinity, because 0 times that is NaN.
ABSENT = -1e9


class MultiCategorical(Distribution):
    """Functions on logits [..., S]. Actions are int64 [..., K], each numbered from 0.

    A space of several axes is flattened.
    """

    def __init__(self, action_space: Any) -> None:
        self.sizes = [int(n) for n in action_space.nvec.reshape(-1)]
        self.parameter_size = self.mask_size = sum(self.sizes)
        self.action = Field((len(self.sizes),), "int64")
        self._most = max(self.sizes)
        self._even = min(self.sizes) == self._most
        self._start, self._shape = action_space.start, action_space.shape
        self._dtype = action_space.dtype

    def head(self, features: int) -> nn.Module:
        """Linear to logits, with small initial weights: the first policy is nearly uniform."""
        return Linear(features, self.parameter_size, gain=0.01)

    def table(self, parameters: Tensor) -> Tensor:
        """Logits [..., S] as [..., K, M]; where a choice has fewer options, `ABSENT`."""
        if self._even:
            return parameters.reshape(*parameters.shape[:-1], -1, self._most)
        parts = torch.split_with_sizes(parameters, self.sizes, -1)
        padded = [F.pad(part, (0, self._most - part.shape[-1]), value=ABSENT) for part in parts]
        return torch.stack(padded, -2)

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """Standard Gumbel, float32 [batch, S]."""
        return rng.gumbel(size=(batch, self.parameter_size)).astype(np.float32)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """int64 [..., K] for logits and noise [..., S]."""
        return self.table(parameters + noise).argmax(-1)

    def mode(self, parameters: Tensor) -> Tensor:
        """The most likely option of every choice, int64 [..., K]."""
        return self.table(parameters).argmax(-1)

    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The sum over K of log softmax(logits_k)[action_k], float [...]."""
        logits = self.table(parameters)
        chosen = logits.gather(-1, action.long().unsqueeze(-1)).squeeze(-1)
        return (chosen - torch.logsumexp(logits, -1)).sum(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """-sum p log p over all options of all choices, in nats, float [...]."""
        log_p = torch.log_softmax(self.table(parameters), -1)
        return -(log_p.exp() * log_p).sum((-2, -1))

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other) = sum p (log p - log q) over all options, float [...]."""
        log_p = torch.log_softmax(self.table(parameters), -1)
        log_q = torch.log_softmax(self.table(other), -1)
        return (log_p.exp() * (log_p - log_q)).sum((-2, -1))

    def masked(self, parameters: Tensor, mask: Tensor) -> Tensor:
        """The logits of allowed options, [..., S] for a mask [..., S], with `FORBIDDEN` elsewhere.

        Huang and Ontanon 2022, arXiv 2006.14171, section 3, for every choice.
        """
        return parameters.masked_fill(mask == 0, FORBIDDEN)

    def env_action(self, action: Array) -> Array:
        """The action with the numbers and the shape of the space, [N, *shape]."""
        shaped: Array = action.reshape(-1, *self._shape) + self._start
        return shaped.astype(self._dtype, copy=False)

    def probabilities(self, parameters: Tensor) -> tuple[Tensor, ...]:
        """The softmax of every choice, K tensors [..., n_k]."""
        logits = torch.split_with_sizes(parameters, self.sizes, -1)
        return tuple([torch.softmax(each, -1) for each in logits])

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """As `log_prob`, of actions [B, *shape] with the numbers and the shape of the space."""
        start = torch.from_numpy(self._start).to(action.device)
        return self.log_prob(parameters, (action - start).flatten(1))
