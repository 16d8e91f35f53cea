"""SAC's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs
from attrs import validators as v

from rlk_schedules import is_schedule

_UNIT = [v.ge(0.0), v.le(1.0)]


def _not_zero(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value < -1 or value == 0:
        raise ValueError(
            f"{attribute.name} must be at least 1, or -1 for one update per timestep, got {value}"
        )


def _is_coefficient(_: object, attribute: attrs.Attribute[Any], value: float | str) -> None:
    try:
        entropy_coefficient(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name} {error}") from None


def _auto_or_number(_: object, attribute: attrs.Attribute[Any], value: float | str) -> None:
    if value != "auto" and (isinstance(value, str) or not math.isfinite(value)):
        raise ValueError(f"{attribute.name} must be 'auto' or a number, got {value!r}")


def entropy_coefficient(value: float | str) -> tuple[bool, float]:
    """Whether it is learnt, and its (initial) value.

    Raises:
        ValueError: for what is neither `auto`, `auto_NUMBER` above 0, nor a number of at least 0.
    """
    head, _, number = str(value).partition("_")
    learnt = isinstance(value, str) and head == "auto"
    try:
        found = float((number or 1.0) if learnt else value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < 0 or (learnt and found == 0):
        raise ValueError(
            f"must be 'auto', 'auto_0.1' (learnt from 0.1 on) or a number of at least 0, "
            f"got {value!r}"
        )
    return learnt, found


@attrs.frozen(kw_only=True)
class SACConfig:
    """Hyperparameters of SAC. A timestep is one step of one environment."""

    gamma: float = attrs.field(
        default=0.99, validator=_UNIT, metadata={"help": "discount per step, 0 to 1"}
    )
    learning_rate: float | str | Callable[[float], float] = attrs.field(
        default=0.0003,
        validator=is_schedule,
        metadata={
            "help": "Adam's step size in all three groups: a number, lin_0.001, or a callable of "
            "what remains of the run, 1 to 0"
        },
    )
    buffer_size: int = attrs.field(
        default=50_000, validator=v.ge(1), metadata={"help": "transitions that the replay holds"}
    )
    learning_starts: int = attrs.field(
        default=100,
        validator=v.ge(0),
        metadata={"help": "timesteps collected, with random actions, before the first update"},
    )
    train_freq: int = attrs.field(
        default=1, validator=v.ge(1), metadata={"help": "vector steps between updates"}
    )
    batch_size: int = attrs.field(
        default=64, validator=v.ge(1), metadata={"help": "transitions per update"}
    )
    tau: float = attrs.field(
        default=0.005,
        validator=_UNIT,
        metadata={"help": "how far the target moves to the critics at a time, 0 to 1"},
    )
    ent_coef: float | str = attrs.field(
        default="auto",
        validator=_is_coefficient,
        metadata={
            "help": "weight of the entropy: auto (learnt, from 1 on), auto_0.1 (from 0.1 on), or a "
            "fixed number"
        },
    )
    target_update_interval: int = attrs.field(
        default=1, validator=v.ge(1), metadata={"help": "updates between moves of the target"}
    )
    gradient_steps: int = attrs.field(
        default=1,
        validator=_not_zero,
        metadata={"help": "updates every train_freq; -1 is one per timestep"},
    )
    target_entropy: float | str = attrs.field(
        default="auto",
        validator=_auto_or_number,
        metadata={
            "help": "entropy in nats that ent_coef is learnt for; auto is minus the number of "
            "action dimensions"
        },
    )
    action_noise: str | None = attrs.field(
        default=None,
        metadata={"help": "a noise, such as normal-noise:sigma=0.1; the same as --plugin"},
    )
    random_exploration: float = attrs.field(
        default=0.0,
        validator=_UNIT,
        metadata={
            "help": "probability of a uniformly random action, per environment and step, 0 to 1"
        },
    )
