"""Settings of the image policy."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from rlk_mlp.config import MlpConfig


def _no_layers() -> list[int]:
    return []


@attrs.frozen(kw_only=True)
class CnnConfig(MlpConfig):
    """The Nature CNN's.

    `layers` are the hidden layers of heads between it and their outputs, by default none.
    """

    layers: list[int] = attrs.field(
        factory=_no_layers,
        metadata={"help": "sizes of the hidden layers of every head, after the CNN"},
    )
    act_fun: Literal["tanh", "relu", "elu", "leaky_relu"] = attrs.field(
        default="relu",
        validator=attrs.validators.in_(("tanh", "relu", "elu", "leaky_relu")),
        metadata={"help": "activation of the heads' hidden layers; the CNN's own is relu"},
    )
    features: int = attrs.field(
        default=512,
        validator=attrs.validators.ge(1),
        metadata={"help": "size of the CNN's last, fully connected layer"},
    )
    channels: Literal["auto", "first", "last"] = attrs.field(
        default="auto",
        validator=attrs.validators.in_(("auto", "first", "last")),
        metadata={
            "help": "which axis of an image holds its channels; auto takes the smaller of the "
            "two ends"
        },
    )


def channels_first(shape: tuple[int, ...], channels: Any) -> bool:
    """Whether an image of this shape has its channels on the first axis."""
    return channels == "first" or (channels == "auto" and shape[0] < shape[-1])
