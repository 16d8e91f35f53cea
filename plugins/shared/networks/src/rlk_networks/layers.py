"""Layers that heads are made of, each with numpy twins. B batch, F features, S size."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from rlk_networks.numpy_twin import NumpyForward, chain, twin


class Linear(nn.Module):
    """A linear layer [B, F] to [B, S]: orthogonal weights of a given gain, no bias at first.

    The weight is [F, S], as the seed system's are: without a transposition, the backward pass is
    a tenth faster.
    """

    def __init__(self, features: int, size: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, size))
        self.bias = nn.Parameter(torch.zeros(size))
        nn.init.orthogonal_(self.weight.detach().T, gain=gain)
        self._cached = (self.bias, self.weight)

    def forward(self, x: Tensor) -> Tensor:
        bias, weight = self._cached
        return torch.addmm(bias, x, weight)

    def numpy_forward(self) -> NumpyForward:
        weight, bias = self.weight.detach().numpy(), self.bias.detach().numpy()
        return lambda features: features.dot(weight) + bias


class Head(nn.Module):
    """Hidden layers and what they lead to; with numpy twins where both parts have them."""

    def __init__(self, trunk: nn.Module, out: nn.Module) -> None:
        super().__init__()
        self.trunk, self.out = trunk, out
        self._parts = (trunk, out)

    def forward(self, features: Tensor) -> Tensor:
        trunk, out = self._parts
        return cast(Tensor, out(trunk(features)))

    def numpy_forward(self) -> NumpyForward | None:
        trunk, out = twin(self.trunk), twin(self.out)
        return None if trunk is None or out is None else chain(trunk, out)
