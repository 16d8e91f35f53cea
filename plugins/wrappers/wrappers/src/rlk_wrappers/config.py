"""Settings of `monitor` and `normalize`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from rlk.settings import finite
from rlk_wrappers.validators import keys_or_none

NOT_LESS = attrs.validators.ge(0.0)
POSITIVE = attrs.validators.gt(0.0)
#: The columns that every monitor file has: return, length, seconds since the start.
COLUMNS = ("r", "l", "t")


def _as_tuple(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _are_keywords(_: object, attribute: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    wrong = [key for key in value if key in COLUMNS or not key or any(c in key for c in ',"\n')]
    if wrong or len(set(value)) < len(value):
        raise ValueError(
            f"{attribute.name} must be different names without commas and quotes, and not r, l or "
            f"t; got {list(value)}"
        )


@attrs.frozen(kw_only=True)
class MonitorConfig:
    """Settings of `monitor`; names and defaults are those of Stable Baselines 2.10."""

    filename: str | None = attrs.field(
        default=None,
        metadata={
            "help": "the CSV file (x becomes x.monitor.csv); none means monitor.csv in the run's "
            "folder",
            "written": True,
        },
    )
    allow_early_resets: bool = attrs.field(
        default=True,
        metadata={"help": "whether an environment may be reset in the middle of an episode"},
    )
    reset_keywords: tuple[str, ...] = attrs.field(
        default=(),
        converter=_as_tuple,
        validator=_are_keywords,
        metadata={
            "help": "further columns: these options of the latest reset, which must have them; a "
            "run gives none"
        },
    )
    info_keywords: tuple[str, ...] = attrs.field(
        default=(),
        converter=_as_tuple,
        validator=_are_keywords,
        metadata={"help": "further columns: these keys of the info that an episode ends with"},
    )


@attrs.frozen(kw_only=True)
class NormalizeConfig:
    """Settings of `normalize`; names and defaults are those of `VecNormalize`."""

    training: bool = attrs.field(
        default=True,
        metadata={
            "help": "whether statistics follow what training sees, or stay as they are (as for a "
            "loaded model)"
        },
    )
    norm_obs: bool = attrs.field(
        default=True, metadata={"help": "whether the policy's observations are normalised"}
    )
    norm_reward: bool = attrs.field(
        default=True, metadata={"help": "whether the rewards that are learnt from are scaled"}
    )
    clip_obs: float = attrs.field(
        default=10.0,
        validator=POSITIVE,
        metadata={"help": "bound of normalised observations, in standard deviations"},
    )
    clip_reward: float = attrs.field(
        default=10.0,
        validator=POSITIVE,
        metadata={"help": "bound of scaled rewards, in standard deviations of the return"},
    )
    gamma: float = attrs.field(
        default=0.99,
        validator=[NOT_LESS, attrs.validators.le(1.0)],
        metadata={
            "help": "discount per step of the returns that rewards are scaled by, 0 to 1; the "
            "algorithm's gamma is not used"
        },
    )
    epsilon: float = attrs.field(
        default=1e-8,
        validator=[POSITIVE, finite],
        metadata={"help": "added to variances, to avoid division by zero"},
    )
    norm_obs_keys: tuple[str, ...] | None = attrs.field(
        default=None,
        converter=keys_or_none,
        validator=attrs.validators.optional(attrs.validators.min_len(1)),
        metadata={
            "help": "keys of a Dict that norm_obs applies to; none means every Box but images"
        },
    )
