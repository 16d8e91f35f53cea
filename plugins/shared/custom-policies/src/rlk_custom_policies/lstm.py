"""A recurrent policy as a base class: Stable Baselines' `LstmPolicy`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs
from torch import nn

from rlk.component import Component
from rlk.settings import differing, setting
from rlk_cnn.config import OF_NATURE_CNN
from rlk_custom_policies.keywords import with_keywords
from rlk_lstm.config import LstmConfig, refuse_without_cnn
from rlk_lstm.network import Lstm
from rlk_networks import Architecture, HiddenLayers


@attrs.frozen(kw_only=True)
class LstmPolicyConfig(LstmConfig):
    """The keywords of `LstmPolicy`: those of `lstm`, but with a CNN by default."""

    feature_extraction: Literal["mlp", "cnn"] = attrs.field(
        default="cnn",
        **setting("what comes first: cnn for images, or mlp", attrs.validators.in_(("mlp", "cnn"))),
    )


class LstmPolicy(Architecture):
    """Hidden layers or a CNN, an LSTM that all heads share, and layers after it.

    Args:
        config: the policy's settings of the run (`policy.n_lstm=64`); passed on by `*args`.
        keywords: `n_lstm`, `layers`, `net_arch`, `act_fun`, `layer_norm`, `feature_extraction`,
            `cnn_extractor`, and `features` and `channels` of the Nature CNN; they override config.

    Raises:
        PlanError: for another keyword, or an invalid value.
    """

    recurrent = True
    component: ClassVar[Component]

    def __init__(self, config: LstmPolicyConfig | None = None, **keywords: Any) -> None:
        name = type(self).__name__
        chosen = with_keywords(config, LstmPolicyConfig, keywords, name)
        refuse_without_cnn(chosen, f"policy {name!r}", differing(chosen, OF_NATURE_CNN))
        self._architecture = Lstm(chosen)
        self.uniform_init = self._architecture.uniform_init

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.component = Component(
            name=cls.__name__,
            factory=cls,
            config=LstmPolicyConfig,
            kind="policies",
            recurrent=True,
        )

    def encoder(self, observation_space: Any) -> nn.Module:
        return self._architecture.encoder(observation_space)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return self._architecture.trunk(role, features, extra=extra, n_copies=n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self._architecture.named_roles()
