"""Settings of the wrappers in this distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

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
    """Settings of `monitor`; names and defaults are the seed's."""

    filename: str | None = attrs.field(
        default=None,
        metadata={"help": "the CSV file; none is monitor.csv in the run's folder, if it has one"},
    )
    allow_early_resets: bool = attrs.field(
        default=True,
        metadata={"help": "whether an environment may be reset in the middle of an episode"},
    )
    reset_keywords: tuple[str, ...] = attrs.field(
        default=(),
        converter=_as_tuple,
        validator=_are_keywords,
        metadata={"help": "columns more: these options of the latest reset, which must have them"},
    )
    info_keywords: tuple[str, ...] = attrs.field(
        default=(),
        converter=_as_tuple,
        validator=_are_keywords,
        metadata={"help": "columns more: these keys of the info that an episode ends with"},
    )
