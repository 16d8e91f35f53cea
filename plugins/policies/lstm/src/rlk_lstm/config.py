"""Settings of the recurrent policies, with the names of Stable Baselines' `LstmPolicy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs
from attrs import validators as v

from rlk.errors import PlanError
from rlk.settings import at_least, documented, setting
from rlk_cnn.config import (
    CHANNELS,
    CNN_EXTRACTOR,
    OF_NATURE_CNN,
    Channels,
    CnnConfig,
    refuse_beside_extractor,
)
from rlk_mlp.config import ACT_FUN, INIT, Init, MlpConfig, are_sizes
from rlk_multi_input.config import MultiInputConfig, refuse_without_images

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

Roles = dict[str, list[int]]
Entry = int | Literal["lstm"] | Roles


def _has_lstm_once(_: object, attribute: attrs.Attribute[Any], value: list[Entry] | None) -> None:
    """A validator: what `net_arch` of `mlp` may have, with the entry 'lstm' among it, once."""
    if value is None:
        return
    if value.count("lstm") != 1:
        raise ValueError(
            f"{attribute.name} takes the entry 'lstm' exactly once, where the LSTM is to be, got "
            f"{value!r}"
        )
    MlpConfig(net_arch=[entry for entry in value if entry != "lstm"])


def _needs_cnn(config: LstmConfig, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and config.feature_extraction != "cnn":
        raise ValueError(
            f"{attribute.name} stands in the place of the CNN, and there is none: set "
            "feature_extraction=cnn, too"
        )


def _has_nothing_to_share(config: LstmConfig, attribute: attrs.Attribute[Any], value: str) -> None:
    if value != "shared" and config.after():
        raise ValueError(
            f"{attribute.name}={value} leaves nothing to share after the LSTM, but net_arch has "
            f"{config.after()} there: give policy and value function their own, {{pi=[…], vf=[…]}}"
        )


@documented
@attrs.frozen(kw_only=True)
class LstmConfig:
    """How large the LSTM is, and what is before and after it."""

    n_lstm: int = attrs.field(default=256, **setting("units of the LSTM, at least 1", at_least(1)))
    n_lstm_layers: int = attrs.field(
        default=1, **setting("LSTMs of n_lstm units, one after the other, at least 1", at_least(1))
    )
    value_lstm: Literal["shared", "own", "none"] = attrs.field(
        default="shared",
        **setting(
            "what remembers for the value function: the policy's LSTM, one of its own, or "
            "nothing, for which a linear layer of n_lstm units takes the place of an LSTM",
            [v.in_(("shared", "own", "none")), _has_nothing_to_share],
        ),
    )
    layers: list[int] | None = attrs.field(
        default=None,
        **setting(
            "sizes of the hidden layers before the LSTM; by default 64, 64, and no layers "
            "after a CNN",
            are_sizes,
        ),
    )
    net_arch: list[Entry] | None = attrs.field(
        default=None,
        **setting(
            "shared layers with 'lstm' among them, once, then {pi=[…], vf=[…]} for each "
            "head; overrides layers",
            _has_lstm_once,
        ),
    )
    act_fun: str | Callable[[Any], Any] = attrs.field(default="tanh", **ACT_FUN)
    layer_norm: bool = attrs.field(
        default=False, **setting("normalise the products and the cell of the LSTM; ln-lstm sets it")
    )
    feature_extraction: Literal["mlp", "cnn", "multi-input"] = attrs.field(
        default="mlp",
        **setting(
            "what comes first: mlp, cnn for the Nature CNN on images, or multi-input for "
            "the keys of a Dict",
            v.in_(("mlp", "cnn", "multi-input")),
        ),
    )
    cnn_extractor: Callable[[Any], Any] | None = attrs.field(
        default=None,
        **{**CNN_EXTRACTOR, "validator": _needs_cnn},
    )
    features: int | None = attrs.field(
        default=None,
        **setting(
            "size of the last, fully connected layer of a CNN; by default 512, and 256 for "
            "each image of a Dict",
            at_least(1, or_none=True),
        ),
    )
    channels: Channels = attrs.field(default="auto", **CHANNELS)
    init: Init = attrs.field(
        default="orthogonal",
        **setting(f"{INIT['metadata']['help']}; the LSTM's are orthogonal", INIT["validator"]),
    )

    def before(self) -> list[int]:
        """Sizes of the hidden layers before the LSTM."""
        if self.net_arch is not None:
            return self._shared()[: self.net_arch.index("lstm")]
        if self.layers is not None:
            return list(self.layers)
        return [] if self.feature_extraction == "cnn" else [64, 64]

    def after(self) -> list[int]:
        """Sizes of the hidden layers after the LSTM that all heads share."""
        return [] if self.net_arch is None else self._shared()[self.net_arch.index("lstm") :]

    def _shared(self) -> list[int]:
        return [entry for entry in self.net_arch or [] if isinstance(entry, int)]

    def heads(self) -> MlpConfig:
        """The settings of the heads' own layers, in the form of `mlp`."""
        last = self.net_arch[-1] if self.net_arch else None
        own: list[int | str | Roles] = [last] if isinstance(last, dict) else []
        return MlpConfig(net_arch=own, act_fun=self.act_fun, init=self.init)

    def cnn(self) -> CnnConfig:
        """The settings of only the CNN."""
        return CnnConfig(
            channels=self.channels,
            cnn_extractor=self.cnn_extractor,
            init=self.init,
            **self._features(),
        )

    def keys(self) -> MultiInputConfig:
        """The settings with which `multi-input` concatenates the keys of a Dict."""
        return MultiInputConfig(channels=self.channels, init=self.init, **self._features())

    def _features(self) -> dict[str, Any]:
        """The size that was set; without one, either policy has its own."""
        return {} if self.features is None else {"features": self.features}


def check(config: LstmConfig, plan: Plan) -> None:
    """PlanError for settings of a CNN where there is none.

    Those of a saved plan may be there without an effect: a file has every setting.
    """
    if config.feature_extraction == "multi-input":
        refuse_without_images(config, plan)
    refuse_without_cnn(config, plan.policy.title, plan.policy.changed(*OF_NATURE_CNN))


def refuse_without_cnn(config: LstmConfig, whose: str, given: Sequence[str]) -> None:
    """PlanError, about the policy with this title, if settings of a CNN have no effect.

    Args:
        config: its settings.
        whose: its title.
        given: the names of those of `OF_NATURE_CNN` that were asked for.
    """
    refuse_beside_extractor(config, whose, given)
    if given and config.feature_extraction == "mlp":
        raise PlanError(
            f"{whose}: {given[0]}={getattr(config, given[0])} is a setting of a CNN, and there is "
            "none. Leave it out, or set feature_extraction=cnn, too."
        )
