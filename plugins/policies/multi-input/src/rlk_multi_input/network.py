"""The encoder of Dict observations: every key becomes numbers, which are concatenated.

Keys are taken in alphabetical order, whatever their order in the space. Each image goes through its
own Nature CNN, and so do floats that `cnn` treats as an image; everything else is flattened
(whole numbers as one-hot).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.errors import PlanError
from rlk_cnn.config import CnnConfig
from rlk_cnn.network import Cnn
from rlk_mlp.layers import Layers, with_shared_layers
from rlk_mlp.network import hidden_layers
from rlk_multi_input.config import MultiInputConfig
from rlk_networks import Architecture, HiddenLayers, custom_encoder, flat_size

#: Spaces that become a row of numbers.
_FLAT = (
    gym.spaces.Box,
    gym.spaces.Discrete,
    gym.spaces.MultiDiscrete,
    gym.spaces.MultiBinary,
)


class MultiInput(Architecture):
    """All keys concatenated, or the user's own encoder, and hidden layers for heads."""

    def __init__(self, config: MultiInputConfig | None = None) -> None:
        self.config = config or MultiInputConfig()
        self.shares_encoder = self.config.share_encoder
        self.uniform_init = self.config.init == "uniform"

    def encoder(self, observation_space: Any) -> nn.Module:
        """The keys, or the user's own encoder, and the layers that all heads share, to [B, F].

        Raises:
            PlanError: for a key that is neither an image nor numbers, an image that is too small,
                or an encoder that does not give features [B, F].
        """
        if self.config.encoder is not None:
            encoder = custom_encoder(self.config.encoder, observation_space)
            return with_shared_layers(encoder, self.config)
        return ConcatenatedKeys(observation_space, self.config)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return hidden_layers(self.config, role, features + extra, n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self.config.named_roles()


class ConcatenatedKeys(nn.Module):
    """Preprocessed Dict observations to [B, F], through the shared layers if there are any.

    Attributes:
        spaces: by key, in the order in which they are concatenated.
        features: F.

    Raises:
        PlanError: for a key that is neither an image nor numbers, or an image that is too small.
    """

    def __init__(self, space: gym.spaces.Dict, config: MultiInputConfig) -> None:
        super().__init__()
        self.spaces = {key: space.spaces[key] for key in sorted(space.spaces)}
        self.cnns = nn.ModuleDict()
        images = Cnn(
            CnnConfig(features=config.features, channels=config.channels, init=config.init)
        )
        # What encodes each key: a submodule's name takes as long as a small product to look up.
        self._parts: list[tuple[str, Any]] = []
        size = 0
        for number, (key, part) in enumerate(self.spaces.items()):
            if images.takes(part):
                cnn = _cnn(images, key, part)
                self.cnns[f"image{number}"] = cnn  # a key may have a dot; a module's name may not
                self._parts.append((key, cnn))
                size += cnn.features
            elif isinstance(part, _FLAT):
                self._parts.append((key, _flattened))
                size += flat_size(part)
            else:
                raise PlanError(
                    f"policy 'multi-input' (rlk-multi-input) takes numbers and images, but key "
                    f"{key!r} of the observation space is {spaces.describe(part)}. Wrap the "
                    "environment in gymnasium.wrappers.FlattenObservation."
                )
        self.layers = Layers(size, config.shared(), config)
        self.features = self.layers.features

    def forward(self, observation: Mapping[str, Tensor]) -> Tensor:
        parts = [part(observation[key]) for key, part in self._parts]
        return self.layers(torch.cat(parts, dim=1))


def _flattened(x: Tensor) -> Tensor:
    return x if x.dim() == 2 else x.flatten(1)


def _cnn(images: Cnn, key: str, space: Any) -> Any:
    try:
        return images.cnn(space)
    except PlanError as error:
        raise PlanError(
            f"key {key!r} of the observation space: {error} Or flatten all keys: --policy mlp "
            "--plugin gymnasium.wrappers:FlattenObservation"
        ) from None
