"""The head `pi` of deterministic policies.

Shapes: B transitions, F features, D numbers per action.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlk_networks import Linear, Trunk, own_modules


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
