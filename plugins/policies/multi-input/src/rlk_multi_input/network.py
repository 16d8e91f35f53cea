"""The encoder of Dict observations in torch, and its numpy twin where no key is an image.

Keys are taken in alphabetical order, whatever order the space has them in: images through a Nature
CNN each, all else flattened (whole numbers as one-hot), one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.errors import PlanError
from rlk.records import Array
from rlk_cnn.config import channels_first
from rlk_cnn.network import NatureCnn
from rlk_mlp.network import BatchedLayers, Layers
from rlk_multi_input.config import MultiInputConfig
from rlk_networks import Architecture, NumpyForward, chain, flat_size

#: Spaces that become a row of numbers.
_FLAT = (
    gym.spaces.Box,
    gym.spaces.Discrete,
    gym.spaces.MultiDiscrete,
    gym.spaces.MultiBinary,
)


class MultiInput(Architecture):
    """The architecture: all keys side by side, and hidden layers for heads."""

    def __init__(self, config: MultiInputConfig | None = None) -> None:
        self.config = config or MultiInputConfig()

    def encoder(self, observation_space: Any) -> nn.Module:
        return SideBySide(observation_space, self.config)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> nn.Module:
        sizes = self.config.own(role)
        if n_copies > 1:
            return BatchedLayers(features + extra, sizes, n_copies, self.config)
        return Layers(features + extra, sizes, self.config)


class SideBySide(nn.Module):
    """Preprocessed Dict observations to [B, F], through the shared layers if there are any.

    Attributes:
        keys: in the order in which they are put together.
        features: F.

    Raises:
        PlanError: for a key that is neither an image nor numbers, or an image that is too small.
    """

    def __init__(self, space: gym.spaces.Dict, config: MultiInputConfig) -> None:
        super().__init__()
        self._spaces = {key: space.spaces[key] for key in sorted(space.spaces)}
        self.keys = tuple(self._spaces)
        self.cnns = nn.ModuleDict()
        size = 0
        for number, (key, part) in enumerate(self._spaces.items()):
            if spaces.is_image(part):
                cnn = _cnn(key, part, config)
                self.cnns[f"image{number}"] = cnn  # a key may have a dot; a module's name may not
                size += cnn.features
            elif isinstance(part, _FLAT):
                size += flat_size(part)
            else:
                raise PlanError(
                    f"policy 'multi-input' (rlk-multi-input) takes numbers and images, but key "
                    f"{key!r} of the observation space is {spaces.describe(part)}. Wrap the "
                    "environment in gymnasium.wrappers.FlattenObservation."
                )
        self.layers = Layers(size, config.shared(), config)
        self.features = self.layers.features
        self._shares = bool(config.shared())

    def forward(self, observation: Mapping[str, Tensor]) -> Tensor:
        parts = []
        for number, key in enumerate(self.keys):
            part, name = observation[key], f"image{number}"
            if name in self.cnns:
                part = self.cnns[name](part)
            parts.append(part.flatten(1) if part.dim() != 2 else part)
        features = torch.cat(parts, dim=1)
        return self.layers(features) if self._shares else features

    def numpy_forward(self) -> NumpyForward | None:
        """The same from a dict of raw arrays [B, ...]; None with images, or if a layer has none."""
        layers = self.layers.numpy_forward()
        if len(self.cnns) or layers is None:
            return None
        readers = [(key, _reader(part)) for key, part in self._spaces.items()]

        def side_by_side(observation: Mapping[str, Array]) -> Array:
            parts = [read(observation[key]) for key, read in readers]
            return np.concatenate(parts, axis=1, dtype=np.float32)

        return chain(side_by_side, layers) if self._shares else side_by_side


def _cnn(key: str, space: Any, config: MultiInputConfig) -> NatureCnn:
    try:
        first = channels_first(space.shape, config.channels)
        return NatureCnn(space.shape, first, config.features)
    except PlanError as error:
        raise PlanError(f"key {key!r} of the observation space: {error}") from None


def _reader(space: gym.Space[Any]) -> Callable[[Array], Array]:
    """From raw numpy [B, ...] to numbers [B, S], as `preprocess` does it in torch."""
    if isinstance(space, gym.spaces.Discrete):
        values = np.arange(space.start, space.start + space.n)
        return lambda part: np.equal(np.reshape(part, (-1, 1)), values)
    if isinstance(space, gym.spaces.MultiDiscrete):
        sizes = [np.arange(n) for n in space.nvec.reshape(-1)]
        return lambda part: np.concatenate(
            [np.equal(column[:, None], n) for column, n in zip(_rows(part).T, sizes, strict=True)],
            axis=1,
        )
    return _rows


def _rows(part: Array) -> Array:
    return part if part.ndim == 2 else part.reshape(len(part), -1)
