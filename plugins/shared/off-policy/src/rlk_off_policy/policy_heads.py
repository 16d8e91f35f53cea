"""The head `pi` of deterministic policies.

Shapes: B transitions, F features, D numbers per action.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rlk_networks import KeepsParts, Linear, Trunk


class DeterministicHead(KeepsParts):
    """Hidden layers, a linear one and tanh: [B, F] to actions in -1 to 1, float [B, D]."""

    PARTS = "trunk", "out"

    def __init__(self, trunk: Trunk, action_size: int) -> None:
        super().__init__()
        layers = trunk("pi")
        self.trunk, self.out = layers, Linear(layers.features, action_size)

    def forward(self, features: Tensor) -> Tensor:
        trunk, out = self.parts
        return torch.tanh(out(trunk(features)))

    def hidden(self, features: Tensor) -> Tensor:
        """The output of the hidden layers, [B, F'] (`Policy.hidden`)."""
        found: Tensor = self.parts[0](features)
        return found
