"""Heads for Q values; the dueling one is Wang et al. 2016, arXiv 1511.06581, eq. 9."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from rlk.records import Array
from rlk_networks import (
    Head,
    Linear,
    NumpyForward,
    NumpyGradient,
    Trunk,
    gradient_twin,
    twin,
)


def q_head(trunk: Trunk, n_actions: int) -> nn.Module:
    """Hidden layers and one value per action, float [B, A]."""
    layers: Any = trunk("qf")
    return Head(layers, Linear(layers.features, n_actions))


class DuelingHead(nn.Module):
    """Q = V + A - mean A, from two stacks of hidden layers, float [B, A]."""

    def __init__(self, trunk: Trunk, n_actions: int) -> None:
        super().__init__()
        self.advantage = q_head(trunk, n_actions)
        self.value = q_head(trunk, 1)

    def forward(self, features: Tensor) -> Tensor:
        advantage: Tensor = self.advantage(features)
        value: Tensor = self.value(features)
        return value + advantage - advantage.mean(1, keepdim=True)

    def numpy_forward(self) -> NumpyForward | None:
        advantages, values = twin(self.advantage), twin(self.value)
        if advantages is None or values is None:
            return None

        def forward(features: Array) -> Array:
            advantage = advantages(features)
            result: Array = values(features) + advantage - advantage.mean(1, keepdims=True)
            return result

        return forward

    def numpy_gradient(self) -> NumpyGradient | None:
        advantages, values = gradient_twin(self.advantage), gradient_twin(self.value)
        return None if advantages is None or values is None else _Dueling(advantages, values)


class _Dueling:
    """`DuelingHead` and its gradient, in numpy."""

    def __init__(self, advantages: NumpyGradient, values: NumpyGradient) -> None:
        self.parameters = [*advantages.parameters, *values.parameters]
        self._advantages, self._values = advantages, values

    def forward(self, features: Array) -> tuple[Array, tuple[Any, Any]]:
        advantage, kept = self._advantages.forward(features)
        value, kept_too = self._values.forward(features)
        return value + advantage - advantage.mean(1, keepdims=True), (kept, kept_too)

    def backward(
        self, kept: tuple[Any, Any], slope: Array, wants_input: bool = False
    ) -> tuple[list[Array], Array | None]:
        total = slope.sum(1, keepdims=True)
        slope = slope - total / slope.shape[1]
        by_value, one = self._values.backward(kept[1], total, wants_input)
        by_advantage, other = self._advantages.backward(kept[0], slope, wants_input)
        both = None if one is None or other is None else one + other
        return by_advantage + by_value, both
