"""SAC's heads: twin critics as one batched module, the actor, and the entropy coefficient."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from rlk_networks import Distribution, Head, Trunk

CRITICS = 2


def actor_head(trunk: Trunk, distribution: Distribution) -> nn.Module:
    """Hidden layers and the distribution's own head, [B, F] to float [B, P]."""
    layers: Any = trunk("pi")
    return Head(layers, distribution.head(layers.features))


class TwinCritic(nn.Module):
    """Q_c(s, a) of independent critics in one call: features [B, F], actions [B, D] to [C, B]."""

    def __init__(self, trunk: Trunk, actions: int) -> None:
        super().__init__()
        hidden: Any = trunk("qf", extra=actions, n_copies=CRITICS)
        self.trunk = hidden
        self.weight = nn.Parameter(torch.empty(CRITICS, 1, hidden.features))
        self.bias = nn.Parameter(torch.zeros(CRITICS, 1))
        for weight in self.weight.detach():
            nn.init.orthogonal_(weight)
        self._cached = (hidden, self.weight, self.bias)

    def forward(self, features: Tensor, action: Tensor) -> Tensor:
        trunk, weight, bias = self._cached
        hidden: Tensor = trunk(torch.cat([features, action], -1))
        # Not a product: of a matrix and a vector, a batched one takes six times as long.
        return (hidden * weight).sum(-1) + bias

    @torch.no_grad()
    def smallest(self, features: Tensor, action: Tensor) -> tuple[Tensor, Tensor] | None:
        """min_c Q_c(s, a), float [B], and its slope by the action, float [B, D].

        For each row only the critic that it is of is followed back, which spares SAC one product in
        sixteen. None where the layers cannot tell their slopes.
        """
        trunk, weight, bias = self._cached
        found = getattr(trunk, "with_slopes", lambda x: None)(torch.cat([features, action], -1))
        if found is None:
            return None
        hidden, slopes_of = found
        value, choice = ((hidden * weight).sum(-1) + bias).min(0)
        slope = weight[:, 0].index_select(0, choice)
        return value, slopes_of(choice, slope, features.shape[-1])


class EntropyCoefficient(nn.Module):
    """alpha, kept as its logarithm."""

    def __init__(self, initial: float) -> None:
        super().__init__()
        self.log_ent_coef = nn.Parameter(torch.tensor(math.log(initial)))
