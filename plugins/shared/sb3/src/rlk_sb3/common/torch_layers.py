"""Feature extractors, and the base class of custom ones.

A class is passed as `policy_kwargs=dict(features_extractor_class=…, features_extractor_kwargs=…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from rlk.errors import PlanError
from rlk.spaces import is_image
from rlk_networks import flat_size
from rlk_sb3.elsewhere import refusing

__all__ = [
    "BaseFeaturesExtractor",
    "CombinedExtractor",
    "FlattenExtractor",
    "NatureCNN",
    "create_mlp",
    "get_actor_critic_arch",
]

__getattr__ = refusing(__name__)


class BaseFeaturesExtractor(nn.Module):
    """The base class of modules from observations to features, float32 [B, features_dim].

    `forward` is given float32 tensors: images [B, C, H, W] from 0 to 1, discrete observations
    one-hot; and a dict of these for a Dict space.

    Args:
        observation_space: the space of one observation, with channels-first images.
        features_dim: the number of features, at least 1.

    Raises:
        PlanError: if `features_dim` is below 1.
    """

    def __init__(self, observation_space: Any, features_dim: int = 0) -> None:
        super().__init__()
        if features_dim < 1:
            raise PlanError(
                f"{type(self).__name__} gives at least 1 feature, got features_dim={features_dim}. "
                "Write super().__init__(observation_space, features_dim)."
            )
        self._observation_space, self._features_dim = observation_space, features_dim

    @property
    def features_dim(self) -> int:
        """The number of features."""
        return self._features_dim


class FlattenExtractor(BaseFeaturesExtractor):
    """Flattens observations; PlanError for a Dict space."""

    def __init__(self, observation_space: Any) -> None:
        if isinstance(observation_space, spaces.Dict):
            raise PlanError("FlattenExtractor takes one array; a Dict is CombinedExtractor's.")
        super().__init__(observation_space, flat_size(observation_space))
        self.flatten = nn.Flatten()

    def forward(self, observations: Tensor) -> Tensor:
        return self.flatten(observations)


class NatureCNN(BaseFeaturesExtractor):
    """The CNN of Mnih et al. 2015 (doi:10.1038/nature14236).

    Args:
        observation_space: a space of images [C, H, W], at least 36 pixels in height and width.
        features_dim: the size of the last, fully connected layer.
        normalized_image: whether images may be floats from 0 to 1 instead of integers.

    Raises:
        PlanError: for another space.
    """

    def __init__(
        self, observation_space: Any, features_dim: int = 512, normalized_image: bool = False
    ) -> None:
        super().__init__(observation_space, features_dim)
        shape = observation_space.shape
        if not is_image(observation_space) and not (normalized_image and len(shape) == 3):
            raise PlanError(
                f"NatureCNN takes images of whole numbers 0 to 255, got {observation_space}. For "
                "images [C, H, W] in 0 to 1: features_extractor_kwargs=dict(normalized_image=True)."
            )
        self.cnn = nn.Sequential(
            nn.Conv2d(shape[0], 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, stride=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            flat = self.cnn(torch.zeros(1, *shape)).shape[1]
        self.linear = nn.Sequential(nn.Linear(flat, features_dim), nn.ReLU())

    def forward(self, observations: Tensor) -> Tensor:
        return self.linear(self.cnn(observations))


class CombinedExtractor(BaseFeaturesExtractor):
    """For Dict observations: concatenates the features of a CNN per image, and other parts, flat.

    Args:
        observation_space: a Dict space.
        cnn_output_dim: the size of the last layer of each CNN.
        normalized_image: whether arrays with three axes are images with floats from 0 to 1.

    Attributes:
        extractors: the extractor of each key. A subclass may replace them, and must then set
            `_features_dim`.
    """

    def __init__(
        self, observation_space: Any, cnn_output_dim: int = 256, normalized_image: bool = False
    ) -> None:
        made: dict[str, BaseFeaturesExtractor] = {}
        for key, part in observation_space.spaces.items():
            if is_image(part) or (normalized_image and len(part.shape or ()) == 3):
                made[key] = NatureCNN(part, cnn_output_dim, normalized_image)
            else:
                made[key] = FlattenExtractor(part)
        super().__init__(observation_space, sum(one.features_dim for one in made.values()))
        self.extractors = nn.ModuleDict(made)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        return torch.cat([one(observations[key]) for key, one in self.extractors.items()], 1)


def create_mlp(
    input_dim: int,
    output_dim: int,
    net_arch: Sequence[int],
    activation_fn: Callable[[], nn.Module] = nn.ReLU,
    squash_output: bool = False,
    with_bias: bool = True,
    pre_linear_modules: Sequence[Callable[[int], nn.Module]] | None = None,
    post_linear_modules: Sequence[Callable[[int], nn.Module]] | None = None,
) -> list[nn.Module]:
    """Modules for `nn.Sequential`: hidden layers with activations, and a last layer without one.

    Args:
        input_dim: the size of the input.
        output_dim: the size of the last layer; below 1, there is no last layer.
        net_arch: the sizes of the hidden layers.
        activation_fn: a function or class that makes an activation.
        squash_output: whether to add a tanh at the end.
        with_bias: whether linear layers have a bias.
        pre_linear_modules: functions of a size that make modules before every linear layer.
        post_linear_modules: functions of a size that make modules between a hidden layer and its
            activation.
    """
    made: list[nn.Module] = []
    size = input_dim
    for width in net_arch:
        made += [make(size) for make in pre_linear_modules or ()]
        made.append(nn.Linear(size, width, bias=with_bias))
        made += [make(width) for make in post_linear_modules or ()]
        made.append(activation_fn())
        size = width
    if output_dim > 0:
        made += [make(size) for make in pre_linear_modules or ()]
        made.append(nn.Linear(size, output_dim, bias=with_bias))
    return [*made, nn.Tanh()] if squash_output else made


def get_actor_critic_arch(
    net_arch: Sequence[int] | Mapping[str, Sequence[int]],
) -> tuple[list[int], list[int]]:
    """The hidden layers of actor and critic, from a list for both, or a dict with `pi` and `qf`."""
    if isinstance(net_arch, Mapping):
        return list(net_arch["pi"]), list(net_arch["qf"])
    return list(net_arch), list(net_arch)
