"""Converts `features_extractor_class` and its keywords to an encoder of rlk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
from gymnasium import spaces
from torch import Tensor, nn

from rlk.errors import PlanError
from rlk.spaces import flat_space, is_image
from rlk_baselines.common.vec_env.image_axes import has_channels_first
from rlk_baselines.refusals import Refused
from rlk_multi_input.config import has_images
from rlk_sb3.common.torch_layers import NatureCNN
from rlk_sb3.common.vec_env.vec_transpose import VecTransposeImage

if TYPE_CHECKING:
    from rlk_sb3.policy_keywords import PolicyFacts

CLASS, KEYWORDS = "features_extractor_class", "features_extractor_kwargs"
#: Policy -> the setting of rlk for a custom extractor.
_SETTINGS = {
    "MlpPolicy": "encoder",
    "mlp": "encoder",
    "MultiInputPolicy": "encoder",
    "multi-input": "encoder",
    "CnnPolicy": "cnn_extractor",
    "cnn": "cnn_extractor",
}
#: Policy -> the keyword of Stable-Baselines3 for the size of the last layer of the policy's CNN.
_SIZES = {
    "CnnPolicy": "features_dim",
    "cnn": "features_dim",
    "MultiInputPolicy": "cnn_output_dim",
    "multi-input": "cnn_output_dim",
    "CnnLstmPolicy": "features_dim",
    "MultiInputLstmPolicy": "cnn_output_dim",
}


def extractor_settings(
    policy: Any, kwargs: Mapping[str, Any], facts: PolicyFacts
) -> dict[str, Any]:
    """The settings of rlk's policy for the two keywords of an extractor in `policy_kwargs`.

    Raises:
        Refused: if the policy takes no extractor, or it is not a class of torch modules.
    """
    name, kind = _name(policy), kwargs.get(CLASS)
    keywords = dict(kwargs.get(KEYWORDS) or {})
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise Refused(
            f"policy_kwargs has {CLASS}, which is written otherwise here: as a class derived from "
            f"rlk_sb3.common.torch_layers.BaseFeaturesExtractor. It is {kind!r}."
        )
    if kind is None:
        size = _own_size(name, keywords)
        has_none = size is None or _lacks_images(name, kwargs, facts.observation_space)
        return {} if has_none else {"features": size}
    if name not in _SETTINGS:
        raise Refused(
            f"policy {name!r} takes no {CLASS}: MlpPolicy, CnnPolicy and MultiInputPolicy do. Pass "
            "one of these, or give a class of your own an encoder: docs/custom-policies.md."
        )
    return {_SETTINGS[name]: Extractor(kind, keywords, is_orthogonal=not facts.is_off_policy)}


def has_extractor(kwargs: Mapping[str, Any]) -> bool:
    """Whether `policy_kwargs` has an extractor, whose class a file cannot hold."""
    return kwargs.get(CLASS) is not None


def begins_with_nature_cnn(name: str, kwargs: Mapping[str, Any]) -> bool:
    """Whether a policy has the Nature CNN, its own or as the extractor of `policy_kwargs`."""
    return kwargs[CLASS] is NatureCNN if has_extractor(kwargs) else "Cnn" in name


def refuse_lost_extractor(model: str, kwargs: Mapping[str, Any]) -> None:
    """Raise Refused if the saved `policy_kwargs` has an extractor that was not passed to `load`.

    Args:
        model: the name of the model class.
        kwargs: `policy_kwargs`. A file only holds the name of a class.
    """
    if has_extractor(kwargs) and not isinstance(kwargs[CLASS], type):
        found = kwargs[CLASS]
        name = found.get("callable", "…") if isinstance(found, Mapping) else "…"
        rest = f", {KEYWORDS}={kwargs[KEYWORDS]!r}" if kwargs.get(KEYWORDS) else ""
        raise Refused(
            f"this model has features of the class {name}, which no file holds. Pass policy_kwargs "
            f"again: {model}.load(path, policy_kwargs=dict({CLASS}={name}{rest}))."
        )


@attrs.frozen
class Extractor:
    """Makes the encoder once the observation space is known."""

    kind: type[nn.Module]
    keywords: Mapping[str, Any]
    is_orthogonal: bool  #: whether initial weights are orthogonal, as in actor-critics

    @property
    def __name__(self) -> str:
        """The name of the class, for messages."""
        return self.kind.__name__

    def __call__(self, observation_space: Any) -> nn.Module:
        """The extractor for observations in rlk's order of axes."""
        made = self.kind(_turned(observation_space), **self.keywords)
        if self.is_orthogonal:
            made.apply(_make_orthogonal)
        return Turning(made, observation_space)


class Turning(nn.Module):
    """Transposes channels-last images for an extractor, which takes channels-first ones.

    Args:
        extractor: a module from observations to features [B, features_dim].
        space: the environment's observation space.

    Raises:
        PlanError: if the extractor has no `features_dim`.
    """

    def __init__(self, extractor: Any, space: Any) -> None:
        super().__init__()
        if not hasattr(extractor, "features_dim"):
            raise PlanError(
                f"{type(extractor).__name__} does not say how many features it gives. Derive it "
                "from BaseFeaturesExtractor, or set its features_dim."
            )
        self.extractor, self.features = extractor, int(extractor.features_dim)
        parts = space.spaces if isinstance(space, spaces.Dict) else {}
        self._keys = tuple(key for key, part in parts.items() if _has_channels_last(part))
        self._is_turned = _has_channels_last(space)

    def forward(self, observation: Any) -> Tensor:
        if self._is_turned:
            observation = observation.movedim(-1, -3)
        elif self._keys:
            turned = {key: observation[key].movedim(-1, -3) for key in self._keys}
            observation = {**observation, **turned}
        return self.extractor(observation)


def _name(policy: Any) -> str:
    """The name of a policy; for a documented class, the name that it stands for."""
    if isinstance(policy, type):
        return str(vars(policy).get("stands_for", policy.__name__))
    return str(policy)


def _own_size(name: str, keywords: dict[str, Any]) -> int | None:
    """The keyword for the size of the policy's default CNN; None if it is not given."""
    size: int | None = keywords.pop(_SIZES.get(name, ""), None)
    if keywords:
        raise Refused(
            f"policy {name!r} has no {', '.join(keywords)} for {KEYWORDS} without {CLASS}"
            + (f": there is {_SIZES[name]}." if name in _SIZES else ".")
        )
    return size


def _lacks_images(name: str, kwargs: Mapping[str, Any], space: Any) -> bool:
    """Whether a policy of Dict observations has no CNN, so that its size has no effect there."""
    if _SIZES.get(name) != "cnn_output_dim" or not isinstance(space, spaces.Dict | spaces.Tuple):
        return False
    return not has_images(flat_space(space), kwargs.get("channels", "auto"))


def _has_channels_last(space: Any) -> bool:
    return is_image(space) and not has_channels_first(space)


def _turned(space: Any) -> Any:
    """The space with channels-first images, for an extractor."""
    if isinstance(space, spaces.Dict):
        return spaces.Dict({key: _turned(part) for key, part in space.spaces.items()})
    return VecTransposeImage.transpose_space(space) if _has_channels_last(space) else space


def _make_orthogonal(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Conv2d)):
        nn.init.orthogonal_(module.weight, gain=math.sqrt(2))
        if module.bias is not None:
            nn.init.zeros_(module.bias)
