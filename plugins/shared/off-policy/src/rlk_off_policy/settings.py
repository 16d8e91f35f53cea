"""Settings that off-policy algorithms have in common: how they are read, checked and explained.

Those of every family are from `rlk_schedules.settings`, and can be imported from here as well. Each
constant holds arguments of `attrs.field` besides the default: `gamma: float =
attrs.field(default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import UNIT, at_least, setting
from rlk_schedules.settings import GAMMA as GAMMA
from rlk_schedules.settings import LEARNING_RATE as LEARNING_RATE
from rlk_schedules.settings import MAX_GRAD_NORM as MAX_GRAD_NORM

#: How often to update: a number of vector steps, or what `parse_train_freq` takes besides.
TrainFreq = int | str | tuple[int, str]
#: `1 episode`, and the pair of Stable-Baselines3 as text: `(1, 'episode')`, `[1, episode]`.
_COUNTED = re.compile(r"(\d+) (episode)s?|[(\[](\d+), ?['\"]?(step|episode)['\"]?[)\]]")


def parse_train_freq(value: TrainFreq) -> tuple[int, int]:
    """(vector steps, episodes) between updates, one of which is 0.

    Args:
        value: a number of vector steps (`4`), or of episodes (`"1 episode"`, `"2 episodes"`), or
            Stable-Baselines3's pair of either and its unit (`(1, "episode")`, `(4, "step")`).

    Raises:
        ValueError: for anything else, or less than 1.
    """
    found = _COUNTED.fullmatch(value) if isinstance(value, str) else None
    if found:
        count, unit = filter(None, found.groups())
        value = (int(count), unit)
    pair = value if isinstance(value, tuple) else (value, "step")
    if isinstance(pair[0], int) and pair[0] >= 1 and pair[1:] in (("step",), ("episode",)):
        return (pair[0], 0) if pair[1] == "step" else (0, pair[0])
    raise ValueError(
        f"must be a number of vector steps of at least 1, or of episodes as '1 episode', "
        f"got {value!r}"
    )


def _parsed_by(parse: Callable[[Any], Any]) -> Callable[[Any, Any, Any], None]:
    """An attrs validator: ValueError, naming the setting, for a value that this cannot parse."""

    def validate(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        try:
            parse(value)
        except ValueError as error:
            raise ValueError(f"{attribute.name} {error}") from None

    return validate


def _at_least_one_or_all(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value < -1 or value == 0:
        raise ValueError(
            f"{attribute.name} must be at least 1, or -1 for one update per timestep, got {value}"
        )


BUFFER_SIZE = setting("transitions that the replay holds", at_least(1))
LEARNING_STARTS = setting("timesteps collected before the first update", at_least(0))
RANDOM_LEARNING_STARTS = setting(
    "timesteps collected, with random actions, before the first update", at_least(0)
)
TRAIN_FREQ = setting(
    "vector steps between updates, or episodes, as '1 episode' or [1, episode]",
    _parsed_by(parse_train_freq),
)
GRADIENT_STEPS = setting(
    "updates after every collection; -1 is one per timestep", _at_least_one_or_all
)
BATCH_SIZE = setting("transitions per update", at_least(1))
TAU = setting("how far target networks move towards the networks at each update, 0 to 1", UNIT)
N_CRITICS = setting(
    "critics; the targets follow the least of their values; at least 1", at_least(1)
)
ACTION_NOISE = setting(
    "a noise, such as normal-noise:sigma=0.1, or an object that stands for one, such as "
    "NormalActionNoise; the same as --plugin"
)
RANDOM_EXPLORATION = setting(
    "probability of a uniformly random action, per environment and step, 0 to 1", UNIT
)

# ---- of maximum-entropy algorithms ---------------------------------------------------------------


def parse_ent_coef(value: float | str) -> tuple[bool, float]:
    """Whether the entropy coefficient is learnt, and its (initial) value.

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


def parse_target_entropy(value: float | str, action_size: int) -> float:
    """The target entropy in nats, for which the coefficient is learnt.

    Args:
        value: a number, also as text, as Stable Baselines takes it; or `auto`, which is minus the
            size of an action.
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


ENT_COEF = setting(
    "weight of the entropy: auto (learnt, starting at 1), auto_0.1 (starting at 0.1), or a fixed "
    "number",
    _parsed_by(parse_ent_coef),
)
TARGET_ENTROPY = setting(
    "entropy in nats that ent_coef is adapted to; auto is minus the number of action dimensions",
    _parsed_by(partial(parse_target_entropy, action_size=1)),
)
USE_SDE = setting("state-dependent exploration (gSDE), squashed")
SDE_SAMPLE_FREQ = setting(
    "with use_sde, steps of an environment after which its noise is drawn again; -1 draws it only "
    "every train_freq",
    v.and_(at_least(-1), v.not_(v.in_((0,)), msg="sde_sample_freq is -1 or at least 1")),
)
USE_SDE_AT_WARMUP = setting(
    "with use_sde, use it before learning_starts as well, instead of uniformly random actions"
)
