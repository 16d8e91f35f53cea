"""Settings of an optimiser of torch.optim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from attrs import validators as v

from rlk.errors import UnknownName
from rlk.settings import documented, setting

#: The classes that move each number by itself, so that one flat tensor is a whole group -> their
#: arguments beside the learning rate, without those that choose an implementation.
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "ASGD": ("lambd", "alpha", "t0", "weight_decay"),
    "Adadelta": ("rho", "eps", "weight_decay"),
    "Adagrad": ("lr_decay", "weight_decay", "initial_accumulator_value", "eps"),
    "Adam": ("betas", "eps", "weight_decay", "amsgrad"),
    "AdamW": ("betas", "eps", "weight_decay", "amsgrad"),
    "Adamax": ("betas", "eps", "weight_decay"),
    "NAdam": ("betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay"),
    "RAdam": ("betas", "eps", "weight_decay", "decoupled_weight_decay"),
    "RMSprop": ("alpha", "eps", "weight_decay", "momentum", "centered"),
    "Rprop": ("etas", "step_sizes"),
    "SGD": ("momentum", "dampening", "weight_decay", "nesterov"),
}


@documented
@attrs.frozen(kw_only=True)
class TorchOptimConfig:
    """Which class of `torch.optim`, and its arguments."""

    kind: str = attrs.field(
        default="AdamW",
        **setting(
            f"the class: {', '.join(ARGUMENTS)}; others move several numbers together",
            v.in_(tuple(ARGUMENTS)),
        ),
    )
    arguments: dict[str, Any] = attrs.field(
        factory=dict,
        **setting("its arguments by name (weight_decay); the learning rate is the algorithm's"),
    )

    @arguments.validator
    def _has_them(self, _: Any, arguments: Mapping[str, Any]) -> None:
        known = ARGUMENTS.get(self.kind, arguments)
        for name in arguments:
            if name not in known:
                raise ValueError(str(UnknownName(f"argument of {self.kind}:", name, known)))

    def ignores(self, option: str) -> str:
        """As `rlk.abilities.IgnoresOptions`: no class has all options, and `arguments` win."""
        if option not in ARGUMENTS[self.kind]:
            return f"has no {option} with kind={self.kind}"
        if option in self.arguments:
            return f"takes arguments.{option}={self.arguments[option]!r} instead"
        return ""
