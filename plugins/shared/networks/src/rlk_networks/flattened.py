"""Preprocessed observations as rows of numbers, and back. B batch, F features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import gymnasium as gym
import torch
from torch import Tensor, nn

from rlk_networks.observations import flat_size


class Flattened(nn.Module):
    """Preprocessed observations as one row of numbers, [B, F]; of a Dict, by its sorted keys.

    Attributes:
        features: F.
    """

    def __init__(self, space: Any) -> None:
        super().__init__()
        is_dict = isinstance(space, gym.spaces.Dict)
        self._keys = sorted(space.spaces) if is_dict else None
        parts = [space.spaces[key] for key in self._keys] if self._keys is not None else [space]
        self._shapes = [_shape(part) for part in parts]
        self._sizes = [flat_size(part) for part in parts]
        self.features = sum(self._sizes)

    def forward(self, observation: Any) -> Tensor:
        if self._keys is None:
            return cast(Tensor, observation.flatten(1))
        return torch.cat([observation[key].flatten(1) for key in self._keys], 1)

    def restored(self, x: Tensor) -> Tensor | Mapping[str, Tensor]:
        """The preprocessed observations of which these rows [B, F] were made."""
        parts = [
            part.reshape(-1, *shape)
            for part, shape in zip(torch.split(x, self._sizes, 1), self._shapes, strict=True)
        ]
        return parts[0] if self._keys is None else dict(zip(self._keys, parts, strict=True))


def _shape(space: Any) -> tuple[int, ...]:
    """The shape of one preprocessed observation: whole numbers are one-hot."""
    if isinstance(space, (gym.spaces.Box, gym.spaces.MultiBinary)):
        return tuple(space.shape)
    return (flat_size(space),)
