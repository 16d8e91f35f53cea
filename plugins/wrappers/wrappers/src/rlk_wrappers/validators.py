"""Validators and converters that the settings of several wrappers share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from attrs import validators

from rlk.settings import between


def whole(least: int, most: float = math.inf) -> Any:
    """A validator of integers from `least` to `most`.

    The upper bound is for sizes of arrays: a model from elsewhere may hold any number.
    """
    return validators.and_(validators.instance_of(int), between(least, most))


def keys_or_none(value: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """Keys of a Dict as a tuple; a str is one key."""
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)
