"""The smallest architecture, to test heads, actors and algorithms with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rlk_networks.architecture import Architecture
from rlk_networks.layers import HiddenLayers
from rlk_networks.observations import flat_size


class NoLayers(Architecture):
    """No hidden layers: features are the preprocessed observation, flattened."""

    def encoder(self, observation_space: Any) -> nn.Module:
        return Flatten(flat_size(observation_space))

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return Repeat(features + extra, n_copies) if n_copies > 1 else Flatten(features + extra)


class Flatten(nn.Module):
    """[B, ...] to [B, F]."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)


class Repeat(nn.Module):
    """[B, F] to [n_copies, B, F], each with a factor of its own."""

    def __init__(self, features: int, n_copies: int) -> None:
        super().__init__()
        self.features = features
        self.scale = nn.Parameter(torch.randn(n_copies, 1, 1))

    def forward(self, x: Tensor, n_copies: int | None = None) -> Tensor:
        return x * self.scale[:n_copies]
