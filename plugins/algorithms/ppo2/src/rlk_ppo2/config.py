"""PPO2's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from attrs import validators as v

from rlk_schedules import is_schedule


def _above_zero_or_none(_: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and value <= 0:
        raise ValueError(f"{attribute.name} must be above 0, or none, got {value!r}")


@attrs.frozen(kw_only=True)
class PPO2Config:
    """Hyperparameters of PPO2.

    Scheduled ones take a number, `"lin_0.001"`, or a callable of what remains (1 to 0).
    """

    gamma: float = attrs.field(
        default=0.99,
        validator=[v.ge(0.0), v.le(1.0)],
        metadata={"help": "discount per step, 0 to 1"},
    )
    n_steps: int = attrs.field(
        default=128,
        validator=v.ge(1),
        metadata={"help": "steps per environment in one collection; a batch is n_steps * n_envs"},
    )
    ent_coef: float = attrs.field(
        default=0.01,
        validator=v.ge(0.0),
        metadata={"help": "weight of the entropy bonus, at least 0"},
    )
    learning_rate: float | str | Callable[[float], float] = attrs.field(
        default=0.00025,
        validator=is_schedule,
        metadata={"help": "Adam's step size; may be scheduled"},
    )
    vf_coef: float = attrs.field(
        default=0.5, validator=v.ge(0.0), metadata={"help": "weight of the value loss, at least 0"}
    )
    max_grad_norm: float | None = attrs.field(
        default=0.5,
        validator=_above_zero_or_none,
        metadata={"help": "the gradient's norm is clipped to this; none for no clipping"},
    )
    lam: float = attrs.field(
        default=0.95,
        validator=[v.ge(0.0), v.le(1.0)],
        metadata={"help": "bias against variance in generalised advantage estimation, 0 to 1"},
    )
    nminibatches: int = attrs.field(
        default=4,
        validator=v.ge(1),
        metadata={
            "help": "minibatches per epoch, at most n_steps * n_envs; for a recurrent policy a "
            "divisor of n_envs"
        },
    )
    noptepochs: int = attrs.field(
        default=4, validator=v.ge(1), metadata={"help": "epochs over each collection"}
    )
    cliprange: float | str | Callable[[float], float] = attrs.field(
        default=0.2,
        validator=is_schedule,
        metadata={"help": "clipping of the probability ratio; may be scheduled"},
    )
    cliprange_vf: float | str | Callable[[float], float] | None = attrs.field(
        default=None,
        validator=v.optional(is_schedule),
        metadata={
            "help": "clipping of the value, in units of return; may be scheduled: none takes "
            "cliprange, negative turns it off"
        },
    )
