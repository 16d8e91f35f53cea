"""Settings of `monitor` and `normalize`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from rlk.settings import UNIT, above, documented, finite, fits_float32, setting
from rlk_wrappers.validators import keys_or_none

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


@documented
@attrs.frozen(kw_only=True)
class MonitorConfig:
    """Settings of `monitor`; names and defaults are those of Stable Baselines 2.10."""

    filename: str | None = attrs.field(
        default=None,
        **setting(
            "the CSV file (x becomes x.monitor.csv); none means monitor.csv in the run's folder",
            written=True,
        ),
    )
    allow_early_resets: bool = attrs.field(
        default=True, **setting("whether an environment may be reset in the middle of an episode")
    )
    info_keywords: tuple[str, ...] = attrs.field(
        default=(),
        converter=_as_tuple,
        **setting(
            "further columns: these keys of the info that an episode ends with", _are_keywords
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class NormalizeConfig:
    """Settings of `normalize`; names and defaults are those of `VecNormalize`."""

    training: bool = attrs.field(
        default=True,
        **setting(
            "whether statistics follow what training sees, or stay as they are (as for a "
            "loaded model)"
        ),
    )
    norm_obs: bool = attrs.field(
        default=True, **setting("whether the policy's observations are normalised")
    )
    norm_reward: bool = attrs.field(
        default=True, **setting("whether the rewards that are learnt from are scaled")
    )
    clip_obs: float = attrs.field(
        default=10.0,
        **setting(
            "bound of normalised observations, in standard deviations", [above(0.0), fits_float32]
        ),
    )
    clip_reward: float = attrs.field(
        default=10.0,
        **setting("bound of scaled rewards, in standard deviations of the return", above(0.0)),
    )
    gamma: float = attrs.field(
        default=0.99,
        **setting(
            "discount per step of the returns that rewards are scaled by, 0 to 1; the "
            "algorithm's gamma is not used",
            UNIT,
        ),
    )
    epsilon: float = attrs.field(
        default=1e-8,
        **setting("added to variances, to avoid division by zero", [above(0.0), finite]),
    )
    norm_obs_keys: tuple[str, ...] | None = attrs.field(
        default=None,
        converter=keys_or_none,
        **setting(
            "keys of a Dict that norm_obs applies to; none means every Box but images",
            attrs.validators.optional(attrs.validators.min_len(1)),
        ),
    )
