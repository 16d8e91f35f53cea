"""The smallest policy component: heads on flattened observations.

As in `rlk_networks`, heads are given by name, as functions from a trunk maker to a module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk_testing.stand_ins.parameters import StandInParameters


class StandInPolicy:
    """No hidden layers: features are the flattened observation, without one-hot encoding."""

    def build(
        self, observation_space: gym.Space[Any], heads: Mapping[str, Callable[[Any], nn.Module]]
    ) -> StandInModule:
        size = flat_size(observation_space)

        def trunk(role: str, *, extra: int = 0, n_copies: int = 1) -> nn.Module:
            if n_copies > 1:
                raise ValueError("policy 'stand-in-policy' has one copy of each head")
            return Passes(size + extra)

        return StandInModule({name: build(trunk) for name, build in heads.items()})

    def flatten(self, module: nn.Module) -> StandInParameters:
        return StandInParameters(module)


class StandInModule(nn.Module):
    """Heads by name, on observations that have been filtered and then flattened."""

    def __init__(self, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, head in heads.items():
            self.add_module(name, head)
        self._filters = 0

    def add_filter(self, module: nn.Module) -> None:
        self._filters += 1
        self.add_module(f"filter{self._filters}", module)

    def forward(self, observation: Any, *names: str) -> tuple[Tensor, ...]:
        found = spaces.map_observation(_as_float, observation)
        for number in range(self._filters):
            found = self.get_submodule(f"filter{number + 1}")(found)
        parts = found.values() if isinstance(found, Mapping) else [found]
        features = torch.cat([part.reshape(len(part), -1) for part in parts], 1)
        return tuple([self.get_submodule(name)(features) for name in names])


class Passes(nn.Module):
    """The identity on [B, F]."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features

    def forward(self, x: Tensor) -> Tensor:
        return x


def _as_float(part: Any) -> Tensor:
    return part.to(torch.float32)


def flat_size(space: gym.Space[Any]) -> int:
    """How many numbers an observation has."""
    parts = space.spaces.values() if isinstance(space, gym.spaces.Dict) else [space]
    return sum(math.prod(part.shape or ()) for part in parts)


def tensors(observation: Any, device: Any = "cpu") -> Any:
    """An array, or a dict of them, as tensors; floats as float32."""

    def tensor(array: Any) -> Tensor:
        is_float = np.issubdtype(np.asarray(array).dtype, np.floating)
        return torch.as_tensor(array, dtype=torch.float32 if is_float else None, device=device)

    return spaces.map_observation(tensor, observation)
