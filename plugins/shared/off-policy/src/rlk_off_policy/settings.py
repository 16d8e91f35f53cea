"""Settings that off-policy algorithms have in common: validators and help texts, written once.

Each constant is what `attrs.field` takes beside the default: `gamma: float = attrs.field(
default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk_off_policy.train_freq import parse_train_freq
from rlk_schedules import is_schedule

#: A validator: from 0 to 1.
UNIT = v.and_(v.ge(0.0), v.le(1.0))


def described(text: str, validator: Any = None) -> dict[str, Any]:
    """The help text and the validator of one setting, as `attrs.field` takes them."""
    return {"metadata": {"help": text}, "validator": validator}


def _is_train_freq(_: object, attribute: attrs.Attribute[Any], value: int | str) -> None:
    try:
        parse_train_freq(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name} {error}") from None


def _at_least_one_or_all(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value < -1 or value == 0:
        raise ValueError(
            f"{attribute.name} must be at least 1, or -1 for one update per timestep, got {value}"
        )


def _above_zero_or_none(_: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and not value > 0:
        raise ValueError(f"{attribute.name} must be above 0, or none, got {value!r}")


GAMMA = described("discount per step, 0 to 1", UNIT)
LEARNING_RATE = described(
    "the optimiser's step size: a number, a schedule such as lin_0.001, or a callable of what "
    "remains of the run, 1 to 0",
    is_schedule,
)
BUFFER_SIZE = described("transitions that the replay holds", v.ge(1))
LEARNING_STARTS = described("timesteps collected before the first update", v.ge(0))
RANDOM_LEARNING_STARTS = described(
    "timesteps collected, with random actions, before the first update", v.ge(0)
)
TRAIN_FREQ = described("vector steps between updates, or episodes, as '1 episode'", _is_train_freq)
GRADIENT_STEPS = described(
    "updates after every collection; -1 is one per timestep", _at_least_one_or_all
)
BATCH_SIZE = described("transitions per update", v.ge(1))
TAU = described("how far the targets move to the networks at a time, 0 to 1", UNIT)
ACTION_NOISE = described(
    "a noise, such as normal-noise:sigma=0.1, or an object that stands for one, such as "
    "NormalActionNoise; the same as --plugin"
)
RANDOM_EXPLORATION = described(
    "probability of a uniformly random action, per environment and step, 0 to 1", UNIT
)
MAX_GRAD_NORM = described(
    "the gradient's norm is clipped to this; none for no clipping", _above_zero_or_none
)
