"""The linear layers between the last hidden layers of a policy and its distribution and Q values.

Shapes: B observations, F and G features of policy and value, K outputs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LatentHeads(nn.Module):
    """A linear layer for the policy and one for Q values, with orthogonal initial weights.

    Args:
        pi_features: F.
        vf_features: G.
        size: K.
        scale: the gain of the initial weights of both layers. bias: their initial bias.
        has_log_std: whether the policy's layer outputs a mean. There is then a log standard
            deviation, too: a parameter that does not depend on the observation, initially 0.
    """

    def __init__(
        self,
        pi_features: int,
        vf_features: int,
        size: int,
        scale: float,
        bias: float,
        has_log_std: bool,
    ) -> None:
        super().__init__()
        self.pi, self.q = nn.Linear(pi_features, size), nn.Linear(vf_features, size)
        nn.init.orthogonal_(self.pi.weight, gain=scale)
        nn.init.orthogonal_(self.q.weight, gain=scale)
        nn.init.constant_(self.pi.bias, bias)
        nn.init.constant_(self.q.bias, bias)
        self.log_std = nn.Parameter(torch.zeros(size)) if has_log_std else None

    def forward(self, pi_latent: Tensor, vf_latent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The distribution's flat parameters, the policy's output [B, K], and Q values [B, K]."""
        found = self.pi(pi_latent)
        flat = found
        if self.log_std is not None:
            flat = torch.cat([found, self.log_std.expand_as(found)], -1)
        return flat, found, self.q(vf_latent)
