"""A feed-forward policy as a base class: Stable Baselines' `FeedForwardPolicy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import attrs
from torch import nn

from rlk import spaces
from rlk.component import Component
from rlk.errors import PlanError
from rlk.settings import at_least, setting
from rlk_cnn.config import CnnConfig
from rlk_cnn.network import Cnn
from rlk_custom_policies.keywords import with_keywords
from rlk_mlp.config import LayersConfig, MlpConfig, are_sizes
from rlk_mlp.network import Mlp
from rlk_networks import Architecture, HiddenLayers


def _needs_cnn(config: FeedForwardConfig, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value != attribute.default and config.feature_extraction == "mlp":
        raise ValueError(
            f"{attribute.name}={value} is a setting of the CNN, and there is none: leave it out, "
            "or pass feature_extraction='cnn', too"
        )


@attrs.frozen(kw_only=True)
class FeedForwardConfig(LayersConfig):
    """The keywords of `FeedForwardPolicy`."""

    layers: list[int] | None = attrs.field(  # type: ignore[assignment]
        default=None,
        **setting(
            "sizes of hidden layers; none means 64, 64 or, after a CNN, the layers of the "
            "policy `cnn`",
            are_sizes,
        ),
    )
    feature_extraction: Literal["cnn", "mlp"] = attrs.field(
        default="cnn",
        **setting("what comes first: cnn for images, or mlp", attrs.validators.in_(("cnn", "mlp"))),
    )
    cnn_extractor: Callable[[Any], Any] | None = attrs.field(
        default=None, **setting("a module, or what makes one, in the place of the Nature CNN")
    )
    features: int = attrs.field(
        default=512,
        **setting(
            "size of the Nature CNN's last, fully connected layer",
            [at_least(1), _needs_cnn],
        ),
    )
    channels: Literal["auto", "first", "last"] = attrs.field(
        default="auto",
        **setting(
            "which axis of an image holds its channels",
            [attrs.validators.in_(("auto", "first", "last")), _needs_cnn],
        ),
    )

    def architecture(self) -> Architecture:
        """The architecture that `mlp` or `cnn` builds from these settings."""
        shared: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("net_arch", "act_fun", "layer_norm", "init", "share_encoder")
        }
        if self.feature_extraction == "mlp":
            layers = [64, 64] if self.layers is None else self.layers
            return Mlp(MlpConfig(layers=layers, **shared))
        cnn: dict[str, Any] = {
            name: getattr(self, name) for name in ("cnn_extractor", "features", "channels")
        }
        return Cnn(CnnConfig(layers=self.layers, **shared, **cnn))


def refuse_other_than_images(config: FeedForwardConfig, space: Any, name: str) -> None:
    """PlanError if the Nature CNN of a policy with this name would encode anything but images.

    An extractor of the user's own may take other observations.
    """
    is_nature_cnn = config.feature_extraction == "cnn" and config.cnn_extractor is None
    if is_nature_cnn and "Image" not in spaces.kinds(space):
        raise PlanError(
            f"policy {name!r}: feature_extraction='cnn', the default, takes images, but "
            f"observations are {spaces.describe(space)}. Pass feature_extraction='mlp'."
        )


class FeedForwardPolicy(Architecture):
    """Hidden layers, or a CNN and hidden layers; a derived class sets their kinds and sizes.

    Args:
        config: the policy's settings of the run (`policy.act_fun=relu`); passed on by `*args`.
        keywords: `layers`, `net_arch`, `act_fun`, `layer_norm`, `init`, `share_encoder`,
            `feature_extraction`, `cnn_extractor`, and `features` and `channels` of the Nature CNN;
            they override config.

    Raises:
        PlanError: for another keyword, or an invalid value.
    """

    component: ClassVar[Component]

    def __init__(self, config: FeedForwardConfig | None = None, **keywords: Any) -> None:
        name = type(self).__name__
        chosen = with_keywords(config, FeedForwardConfig, keywords, name)
        if chosen.cnn_extractor is not None and chosen.feature_extraction == "mlp":
            raise PlanError(
                f"policy {name!r}: cnn_extractor stands in the place of the CNN, and there is "
                "none: pass feature_extraction='cnn', too"
            )
        self._config = chosen
        self._architecture = chosen.architecture()
        self.shares_encoder = chosen.share_encoder
        self.uniform_init = self._architecture.uniform_init

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.component = Component(
            name=cls.__name__, factory=cls, config=FeedForwardConfig, kind="policies"
        )

    def encoder(self, observation_space: Any) -> nn.Module:
        refuse_other_than_images(self._config, observation_space, type(self).__name__)
        return self._architecture.encoder(observation_space)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return self._architecture.trunk(role, features, extra=extra, n_copies=n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self._architecture.named_roles()
