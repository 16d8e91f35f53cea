"""Settings of the multilayer perceptron, with the names of Stable Baselines' `policy_kwargs`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Literal, get_args

import attrs

from rlk.errors import either, nearest
from rlk.settings import documented, setting

Roles = dict[str, list[int]]

ACTIVATION_NAMES = (
    "tanh",
    "relu",
    "elu",
    "leaky_relu",
    "selu",
    "gelu",
    "silu",
    "sigmoid",
    "softplus",
    "softsign",
)
#: The heads that may have layers of their own: the policy, the value, and Q values.
ROLES = ("pi", "vf", "qf")
#: A part of `qf`, which has the layers of that unless a policy says otherwise.
STATE_VALUE = "state_value"


def are_sizes(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator: layer sizes of at least 1, also below the names of heads."""
    if isinstance(value, list) and "lstm" in value:
        raise ValueError(
            f"{attribute.name} has 'lstm' in it, which recurrent policies have: --policy lstm"
        )
    sizes: list[Any] = []
    for entry in _entries(value):
        sizes += chain(*entry.values()) if isinstance(entry, dict) else [entry]
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
        raise ValueError(f"{attribute.name} takes layer sizes of at least 1, got {value!r}")


def _has_heads_last(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator: at most one mapping of heads, which is last and names no others."""
    entries = _entries(value)
    if any(isinstance(entry, dict) for entry in entries[:-1]):
        raise ValueError(f"{attribute.name} takes the mapping of heads last, got {value!r}")
    last = entries[-1] if entries else None
    for role in last if isinstance(last, dict) else ():
        if role not in ROLES:
            near = nearest(role, ROLES)
            meant = f"Did you mean {either(near)}?" if near else f"Heads are {either(ROLES)}."
            raise ValueError(f"{attribute.name} has a head {role!r}, and there is none. {meant}")


def _has_nothing_to_share(
    config: LayersConfig, attribute: attrs.Attribute[Any], value: Any
) -> None:
    if not value and config.shared():
        raise ValueError(
            f"{attribute.name}=false leaves no place for what all heads share, but net_arch has "
            f"{config.shared()}: give every head its own, {{pi=[…], vf=[…]}}"
        )


def _has_units_to_compare(
    config: LayersConfig, attribute: attrs.Attribute[Any], value: Any
) -> None:
    own = config.layers if config.net_arch is None else chain(*config._heads().values())
    if value and 1 in chain(config.shared(), own or ()):
        raise ValueError(
            f"{attribute.name} makes a layer of one unit a constant, whatever is observed: give "
            "each hidden layer at least 2 units, or leave layer norm out"
        )


def _entries(value: Any) -> list[Any]:
    """The entries of `net_arch`; a mapping alone is the only one."""
    return [value] if isinstance(value, dict) else list(value or ())


def is_activation(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator: the name of an activation, or a function."""
    if callable(value) or value in ACTIVATION_NAMES:
        return
    near = nearest(str(value), ACTIVATION_NAMES)
    meant = f"Did you mean {either(near)}?" if near else f"It is {either(ACTIVATION_NAMES)},"
    raise ValueError(
        f"{attribute.name}: there is no activation {value!r}. {meant} or, in Python, a function"
    )


#: The arguments of `attrs.field` besides the default.
ACT_FUN = setting(
    f"activation after every hidden layer: {', '.join(ACTIVATION_NAMES)}, or in Python a function "
    "of a tensor or a class of modules",
    is_activation,
)
Init = Literal["orthogonal", "xavier", "uniform"]
#: Likewise.
INIT = setting(
    "initial weights of hidden layers: orthogonal with gain sqrt(2), Xavier's uniform, or uniform, "
    "as PyTorch's layers have them (biases, output layers and a CNN's layers too)",
    attrs.validators.in_(get_args(Init)),
)


@attrs.frozen(kw_only=True)
class LayersConfig:
    """The number and kind of hidden layers."""

    layers: list[int] = attrs.field(
        factory=lambda: [64, 64], **setting("sizes of the hidden layers of every head", are_sizes)
    )
    net_arch: list[int | str | Roles] | Roles | None = attrs.field(
        default=None,
        **setting(
            "shared layers, then {pi=[…], vf=[…]} for each head, or only that; overrides layers",
            [are_sizes, _has_heads_last],
        ),
    )
    act_fun: str | Callable[[Any], Any] = attrs.field(default="tanh", **ACT_FUN)
    layer_norm: bool = attrs.field(
        default=False,
        **setting("normalise every hidden layer before its activation", _has_units_to_compare),
    )
    init: Init = attrs.field(default="orthogonal", **INIT)
    share_encoder: bool = attrs.field(
        default=True,
        **setting(
            "one encoder (a CNN, or your own) for all heads; false gives every head its own",
            _has_nothing_to_share,
        ),
    )

    def shared(self) -> list[int]:
        """Sizes of the layers that all heads share."""
        return [size for size in _entries(self.net_arch) if isinstance(size, int)]

    def own(self, role: str) -> list[int]:
        """Sizes of the layers that only a head of this role has."""
        if self.net_arch is None:
            return list(self.layers)
        heads = self._heads()
        return list(heads.get(role, heads.get("qf", []) if role == STATE_VALUE else []))

    def named_roles(self) -> tuple[str, ...]:
        """The heads that `net_arch` has layers for."""
        return tuple(self._heads())

    def _heads(self) -> Roles:
        entries = _entries(self.net_arch)
        last = entries[-1] if entries else None
        return last if isinstance(last, dict) else {}


@documented
@attrs.frozen(kw_only=True)
class MlpConfig(LayersConfig):
    """Hidden layers, and the module that observations may pass through before them."""

    encoder: Callable[[Any], Any] | None = attrs.field(
        default=None,
        **setting(
            "in Python: a module, or a function that makes one for the observation "
            "space, for observations to go through first; none flattens them"
        ),
    )
