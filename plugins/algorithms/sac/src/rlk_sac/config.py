"""SAC's hyperparameters, with the names and defaults of Stable Baselines 2.10.

Those of state-dependent exploration (`use_sde` and related ones) are Stable-Baselines3's.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import PluginText, setting
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike


def _is_coefficient(_: object, attribute: attrs.Attribute[Any], value: float | str) -> None:
    try:
        entropy_coefficient(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name} {error}") from None


def _is_target(_: object, attribute: attrs.Attribute[Any], value: float | str) -> None:
    try:
        target_entropy(value, 1)
    except ValueError as error:
        raise ValueError(f"{attribute.name} {error}") from None


def target_entropy(value: float | str, action_size: int) -> float:
    """The target entropy in nats, for which the coefficient is learnt.

    Args:
        value: a number, also as text, as Stable Baselines takes it; or `auto`.
        action_size: numbers per action.

    Raises:
        ValueError: for anything else.
    """
    if value == "auto":
        return -float(action_size)
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"must be 'auto' or a number, got {value!r}")
    return found


def entropy_coefficient(value: float | str) -> tuple[bool, float]:
    """Whether the coefficient is learnt, and its (initial) value.

    Raises:
        ValueError: for anything but `auto`, `auto_NUMBER` above 0, or a number of at least 0.
    """
    head, separator, number = str(value).partition("_")
    learnt = isinstance(value, str) and head == "auto"
    try:
        found = float(value if not learnt else number if separator else 1.0)
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

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    learning_rate: ScheduleLike = attrs.field(default=0.0003, **settings.LEARNING_RATE)
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    learning_starts: int = attrs.field(default=100, **settings.RANDOM_LEARNING_STARTS)
    train_freq: int | str = attrs.field(default=1, **settings.TRAIN_FREQ)
    batch_size: int = attrs.field(default=64, **settings.BATCH_SIZE)
    tau: float = attrs.field(default=0.005, **settings.TAU)
    ent_coef: float | str = attrs.field(
        default="auto",
        **setting(
            "weight of the entropy: auto (learnt, starting at 1), auto_0.1 (starting "
            "at 0.1), or a fixed number",
            _is_coefficient,
        ),
    )
    target_update_interval: int = attrs.field(
        default=1, **setting("updates between two updates of the target networks", v.ge(1))
    )
    gradient_steps: int = attrs.field(default=1, **settings.GRADIENT_STEPS)
    target_entropy: float | str = attrs.field(
        default="auto",
        **setting(
            "entropy in nats that ent_coef is adapted to; auto is minus the number of "
            "action dimensions",
            _is_target,
        ),
    )
    action_noise: PluginText | None = attrs.field(default=None, **settings.ACTION_NOISE)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
    use_sde: bool = attrs.field(
        default=False,
        **setting("state-dependent exploration (gSDE), squashed"),
    )
    sde_sample_freq: int = attrs.field(
        default=-1,
        **setting(
            "with use_sde, steps of an environment after which its noise is drawn "
            "again; -1 draws it only every train_freq",
            v.and_(v.ge(-1), v.not_(v.in_((0,)), msg="sde_sample_freq is -1 or at least 1")),
        ),
    )
    use_sde_at_warmup: bool = attrs.field(
        default=False,
        **setting(
            "with use_sde, use it before learning_starts as well, instead of "
            "uniformly random actions"
        ),
    )
