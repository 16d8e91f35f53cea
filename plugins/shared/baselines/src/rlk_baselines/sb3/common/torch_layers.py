"""Extractors of features, to derive one's own from.

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
from rlk_baselines.sb3.elsewhere import not_here
from rlk_networks import flat_size

__all__ = [
    "BaseFeaturesExtractor",
    "CombinedExtractor",
    "FlattenExtractor",
    "NatureCNN",
    "create_mlp",
    "get_actor_critic_arch",
]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)


class BaseFeaturesExtractor(nn.Module):
    """From observations to features [B, features_dim].

    `forward` is given float32 tensors: images [B, C, H, W] in 0 to 1, whole numbers one-hot, a dict
    of these for a Dict space.

    Args:
        observation_space: of one observation, with images [C, H, W].
        features_dim: how many features there are.
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
        """How many features there are."""
        return self._features_dim


class FlattenExtractor(BaseFeaturesExtractor):
    """The numbers of an observation, side by side."""

    def __init__(self, observation_space: Any) -> None:
        if isinstance(observation_space, spaces.Dict):
            raise PlanError("FlattenExtractor takes one array; a Dict is CombinedExtractor's.")
        super().__init__(observation_space, flat_size(observation_space))
        self.flatten = nn.Flatten()

    def forward(self, observations: Tensor) -> Tensor:
        flat: Tensor = self.flatten(observations)
        return flat


class NatureCNN(BaseFeaturesExtractor):
    """The CNN of Mnih et al. 2015 (doi:10.1038/nature14236).

    Args:
        observation_space: images [C, H, W] of at least 36 pixels each way.
        features_dim: size of the last, fully connected layer.
        normalized_image: whether images may be of floats in 0 to 1 instead of whole numbers.
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
        features: Tensor = self.linear(self.cnn(observations))
        return features


class CombinedExtractor(BaseFeaturesExtractor):
    """The parts of a Dict side by side: images through a Nature CNN each, all others flat.

    Args:
        observation_space: a Dict.
        cnn_output_dim: the size of the last layer of each CNN.
        normalized_image: whether arrays of three axes are images of floats in 0 to 1.

    Attributes:
        extractors: by key, what a part goes through. A class that derives from this one may replace
            them, and set `_features_dim`.
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
    """Modules for `nn.Sequential`: hidden layers, each with an activation, and a last one without.

    Args:
        input_dim: how many numbers go in.
        output_dim: the size of the last layer; below 1 there is none.
        net_arch: the sizes of the hidden layers.
        activation_fn: makes an activation.
        squash_output: whether a tanh stands at the end.
        with_bias: whether layers have a bias.
        pre_linear_modules: what stands in front of every layer, made with the size there.
        post_linear_modules: what stands between a hidden layer and its activation, likewise.
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
    """The hidden layers of actor and critic, of a list for both or a dict with `pi` and `qf`."""
    if isinstance(net_arch, Mapping):
        return list(net_arch["pi"]), list(net_arch["qf"])
    return list(net_arch), list(net_arch)
