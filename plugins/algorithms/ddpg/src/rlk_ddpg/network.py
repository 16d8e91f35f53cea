"""The critic Q(s, a) of continuous actions, small initial outputs, and which weights are penalised.

Shapes: B transitions, F features, D numbers per action.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rlk_networks import Linear, Trunk

#: The initial weights and bias of an output layer are uniform between minus and plus this.
SMALL = 3e-3


class Critic(nn.Module):
    """Q(s, a): features [B, F] and actions [B, D] to float [B].

    Args:
        trunk: the maker of hidden layers.
        action_size: D.
    """

    def __init__(self, trunk: Trunk, action_size: int) -> None:
        super().__init__()
        hidden = trunk("qf", extra=action_size)
        self.trunk, self.out = hidden, Linear(hidden.features, 1)

    def forward(self, features: Tensor, action: Tensor) -> Tensor:
        value: Tensor = self.out(self.trunk(torch.cat([features, action], -1)))
        return value.squeeze(-1)

    def hidden(self, features: Tensor, action: Tensor) -> Tensor:
        """The output of the hidden layers, [B, F'] (`Policy.hidden`)."""
        return self.trunk(torch.cat([features, action], -1))


def hidden_weights(policy: nn.Module, prefixes: tuple[str, ...]) -> list[nn.Parameter]:
    """The weights under these names, without biases, layer norm and the critic's output layer."""
    return [
        parameter
        for name, parameter in policy.named_parameters()
        if name.startswith(prefixes) and not name.startswith("qf.out.") and parameter.ndim > 1
    ]


def with_small_output(head: Any) -> nn.Module:
    """A head whose layer `out` has small weights, for initial outputs near 0.

    Lillicrap et al. 2016, arXiv 1509.02971, section 7.
    """
    for parameter in (head.out.weight, head.out.bias):
        nn.init.uniform_(parameter.detach(), -SMALL, SMALL)
    return head
