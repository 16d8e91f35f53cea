"""Settings of the multilayer perceptron, with the names of Stable Baselines' `policy_kwargs`."""

from __future__ import annotations

from itertools import chain
from typing import Any, Literal

import attrs

Roles = dict[str, list[int]]


def _positive(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    sizes: list[Any] = []
    for entry in value or ():
        sizes += chain(*entry.values()) if isinstance(entry, dict) else [entry]
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
        raise ValueError(f"{attribute.name} takes layer sizes of at least 1, got {value!r}")


def _roles_last(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if any(isinstance(entry, dict) for entry in (value or ())[:-1]):
        raise ValueError(f"{attribute.name} takes the mapping of heads last, got {value!r}")


@attrs.frozen(kw_only=True)
class MlpConfig:
    """How many layers of what."""

    layers: list[int] = attrs.field(
        factory=lambda: [64, 64],
        validator=_positive,
        metadata={"help": "sizes of the hidden layers of every head"},
    )
    net_arch: list[int | Roles] | None = attrs.field(
        default=None,
        validator=[_positive, _roles_last],
        metadata={"help": "shared layers, then {pi=[…], vf=[…]} for each head; overrides layers"},
    )
    act_fun: Literal["tanh", "relu", "elu", "leaky_relu"] = attrs.field(
        default="tanh",
        validator=attrs.validators.in_(("tanh", "relu", "elu", "leaky_relu")),
        metadata={"help": "activation after every hidden layer"},
    )
    layer_norm: bool = attrs.field(
        default=False, metadata={"help": "normalise every hidden layer before its activation"}
    )
    init: Literal["orthogonal", "xavier"] = attrs.field(
        default="orthogonal",
        validator=attrs.validators.in_(("orthogonal", "xavier")),
        metadata={
            "help": "initial weights of hidden layers: orthogonal with gain sqrt(2), or Xavier's "
            "uniform"
        },
    )

    def shared(self) -> list[int]:
        """Sizes of the layers that all heads share."""
        return [size for size in self.net_arch or [] if isinstance(size, int)]

    def own(self, role: str) -> list[int]:
        """Sizes of the layers that a head of this role has for itself."""
        if self.net_arch is None:
            return list(self.layers)
        last = self.net_arch[-1] if self.net_arch else None
        return list(last.get(role, [])) if isinstance(last, dict) else []
