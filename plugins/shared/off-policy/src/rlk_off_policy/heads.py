"""Heads without a distribution: of Q values, and the head `pi` of deterministic policies.

Shapes: B transitions, F features, A discrete actions, D numbers per action.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlk_networks import Head, Linear, Trunk, own_modules


def q_head(trunk: Trunk, n_actions: int, role: str = "qf") -> Head:
    """Hidden layers of that role and one value per action, [B, F] to float [B, A]."""
    layers = trunk(role)
    return Head(layers, Linear(layers.features, n_actions))


class DuelingHead(nn.Module):
    """Q = V + A - mean A, from two stacks of hidden layers, float [B, A].

    Wang et al. 2016, arXiv 1511.06581, eq. 9.

    The layers before V have their own role: after a CNN, Stable Baselines 2.10 has two of 64
    there and none before A.
    """

    def __init__(self, trunk: Trunk, n_actions: int) -> None:
        super().__init__()
        self.advantage = q_head(trunk, n_actions)
        self.value = q_head(trunk, 1, "state_value")

    def forward(self, features: Tensor) -> Tensor:
        advantage: Tensor = self.advantage(features)
        value: Tensor = self.value(features)
        return value + advantage - advantage.mean(1, keepdim=True)

    def hidden(self, features: Tensor) -> Tensor:
        """The outputs of the hidden layers of A and of V, side by side (`Policy.hidden`)."""
        return torch.cat((self.advantage.hidden(features), self.value.hidden(features)), 1)


class DeterministicHead(nn.Module):
    """Hidden layers, a linear one and tanh: [B, F] to actions in -1 to 1, float [B, D]."""

    def __init__(self, trunk: Trunk, action_size: int) -> None:
        super().__init__()
        layers = trunk("pi")
        self.trunk, self.out = layers, Linear(layers.features, action_size)

    def forward(self, features: Tensor) -> Tensor:
        parts = own_modules(self)
        return torch.tanh(parts["out"](parts["trunk"](features)))

    def hidden(self, features: Tensor) -> Tensor:
        """The output of the hidden layers, [B, F'] (`Policy.hidden`)."""
        return self.trunk(features)
