"""The Nature CNN: Mnih et al. 2015 (doi:10.1038/nature14236).

Three convolutions (32 of 8x8 by 4, 64 of 4x4 by 2, 64 of 3x3 by 1) and one fully connected layer,
ReLU after each. Images come as float in 0 to 1 (`rlk_networks.preprocess`), channels on either end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import channels_first, is_image, kind, kinds
from rlk_cnn.config import CnnConfig
from rlk_mlp.layers import with_shared_layers
from rlk_mlp.network import hidden_layers
from rlk_networks import Architecture, HiddenLayers, custom_encoder

#: Pixels that the convolutions need each way.
SMALLEST = 36
#: How far bounds may be apart that are scaled: as far as those of images of 16 bits.
WIDEST = 2**16


class Cnn(Architecture):
    """The Nature CNN or the user's own as the encoder, and hidden layers for heads, if any."""

    def __init__(self, config: CnnConfig | None = None) -> None:
        self.config = config or CnnConfig()
        self.shares_encoder = self.config.share_encoder
        self.uniform_init = self.config.init == "uniform"

    def encoder(self, observation_space: Any) -> nn.Module:
        """The CNN, and the layers that all heads share, if any: images [B, ...] to [B, F].

        Raises:
            PlanError: as `cnn` does.
        """
        return with_shared_layers(self.cnn(observation_space), self.config)

    def cnn(self, observation_space: Any) -> nn.Module:
        """The Nature CNN, or the user's own network, for images in 0 to 1.

        The user's own network may take other observations; those of a Box with finite bounds are
        scaled to 0 and 1, too. Numbers whose bounds are more than 2**16 apart are left as they are.

        Raises:
            PlanError: if images are too small for the Nature CNN, or the user's own network does
                not give features [B, F] for them.
        """
        if self.config.cnn_extractor is not None:
            made: Any = custom_encoder(self.config.cnn_extractor, observation_space)
        else:
            shape = observation_space.shape
            settings = self._channels_first(shape), self.config.features, self.config.init
            made = NatureCnn(shape, *settings)
        return Scaled(observation_space, made) if must_be_scaled(observation_space) else made

    def takes(self, space: Any) -> bool:
        """Whether the CNN is what encodes a key of a Dict.

        That is so for images, though they may be too small, and for floats that may be images and
        are large enough.
        """
        if is_image(space) or "Image" not in kinds(space):
            return is_image(space)
        shape: tuple[int, ...] = space.shape
        return min(shape[1:] if self._channels_first(shape) else shape[:-1]) >= SMALLEST

    def _channels_first(self, shape: tuple[int, ...]) -> bool:
        channels = self.config.channels
        return channels_first(shape) if channels == "auto" else channels == "first"

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return hidden_layers(self.config, role, features + extra, n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self.config.named_roles()


def must_be_scaled(space: Any) -> bool:
    """Whether numbers of a space are between bounds that can be scaled, but not yet 0 and 1.

    `rlk_networks.preprocess` has scaled those of images of uint8. Bounds further apart than
    `WIDEST`, such as the largest floats, mean that there are none: scaled to these, numbers of
    ordinary size would all become the same one.
    """
    if kind(space) != "Box":
        return False
    low, high = _float32_bounds(space)
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
    is_bounded = np.all((width > 0) & (width <= WIDEST))
    return bool(is_bounded and (np.any(low != 0) or np.any(high != 1)))


def _float32_bounds(space: Any) -> tuple[Array, Array]:
    """The bounds of a Box in the type that a network computes in; too large a number is inf."""
    with np.errstate(over="ignore"):
        return space.low.astype(np.float32), space.high.astype(np.float32)


class Scaled(nn.Module):
    """A network of numbers in 0 to 1, for images or other numbers between other bounds.

    Args:
        space: of one observation; its bounds are scaled to 0 and 1.
        network: images [B, ...] to [B, features].
    """

    low: Tensor
    width: Tensor

    def __init__(self, space: Any, network: nn.Module) -> None:
        super().__init__()
        low, high = map(torch.from_numpy, _float32_bounds(space))
        self.register_buffer("low", low, persistent=False)
        self.register_buffer("width", high - low, persistent=False)
        made: Any = network
        self.network, self.features = made, int(made.features)

    def forward(self, x: Tensor) -> Tensor:
        return self.network((x - self.low) / self.width)


class NatureCnn(nn.Module):
    """Images [B, H, W, C] or [B, C, H, W] to [B, features].

    Weights begin orthogonal with gain sqrt(2) and biases at 0; with `init` uniform, both as those
    of PyTorch's layers.

    Raises:
        PlanError: if the image is too small for the convolutions.
    """

    def __init__(
        self, shape: tuple[int, ...], first: bool, features: int, init: str = "orthogonal"
    ) -> None:
        super().__init__()
        self.features, self._first = features, first
        channels, *size = shape if first else (shape[-1], *shape[:-1])
        if min(size) < SMALLEST:
            raise PlanError(
                f"policy 'cnn' needs images of at least {SMALLEST}x{SMALLEST} pixels, got "
                f"{size[0]}x{size[1]} ({channels} channels, {'first' if first else 'last'}). "
                "Resize them, or use --policy mlp; if another axis holds the channels, --set "
                "policy.channels=first or last."
            )
        self.conv1 = nn.Conv2d(channels, 32, 8, stride=4)
        self.conv2 = nn.Conv2d(32, 64, 4, stride=2)
        self.conv3 = nn.Conv2d(64, 64, 3, stride=1)
        with torch.no_grad():
            flat = self._convolve(torch.zeros(1, channels, *size)).shape[1]
        self.full = nn.Linear(flat, features)
        if init != "uniform":
            self._begin_orthogonal()

    def _begin_orthogonal(self) -> None:
        for layer in (self.conv1, self.conv2, self.conv3, self.full):
            nn.init.orthogonal_(layer.weight, gain=math.sqrt(2))
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)

    def _convolve(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return F.relu(self.conv3(x)).flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        x = x if self._first else x.permute(0, 3, 1, 2)
        # In this layout an update takes 0.7 of the time (256 images of 84x84, one thread): the
        # gradient of the first kernels takes a third. If channels come last, nothing is copied.
        x = x.contiguous(memory_format=torch.channels_last)
        return F.relu(self.full(self._convolve(x)))
