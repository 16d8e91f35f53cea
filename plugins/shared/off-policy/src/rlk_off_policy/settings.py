"""Settings that off-policy algorithms have in common: validators and help texts, written once.

Those of every family are from `rlk_schedules.settings`, and can be imported from here as well. Each
constant holds arguments of `attrs.field` besides the default: `gamma: float =
attrs.field(default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import setting
from rlk_off_policy.train_freq import parse_train_freq
from rlk_schedules.settings import GAMMA as GAMMA
from rlk_schedules.settings import LEARNING_RATE as LEARNING_RATE
from rlk_schedules.settings import MAX_GRAD_NORM as MAX_GRAD_NORM
from rlk_schedules.settings import UNIT as UNIT


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


BUFFER_SIZE = setting("transitions that the replay holds", v.ge(1))
LEARNING_STARTS = setting("timesteps collected before the first update", v.ge(0))
RANDOM_LEARNING_STARTS = setting(
    "timesteps collected, with random actions, before the first update", v.ge(0)
)
TRAIN_FREQ = setting("vector steps between updates, or episodes, as '1 episode'", _is_train_freq)
GRADIENT_STEPS = setting(
    "updates after every collection; -1 is one per timestep", _at_least_one_or_all
)
BATCH_SIZE = setting("transitions per update", v.ge(1))
TAU = setting("how far target networks move towards the networks at each update, 0 to 1", UNIT)
ACTION_NOISE = setting(
    "a noise, such as normal-noise:sigma=0.1, or an object that stands for one, such as "
    "NormalActionNoise; the same as --plugin"
)
RANDOM_EXPLORATION = setting(
    "probability of a uniformly random action, per environment and step, 0 to 1", UNIT
)
