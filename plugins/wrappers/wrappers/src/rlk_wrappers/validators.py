"""Validators and converters that the settings of several wrappers share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import validators


def at_least(least: int) -> Any:
    """A validator of integers that are `least` or more."""
    return validators.and_(validators.instance_of(int), validators.ge(least))


def between(least: int, most: int) -> Any:
    """A validator of integers from `least` to `most`.

    The upper bound is for sizes of arrays: a model from elsewhere may hold any number.
    """
    return validators.and_(at_least(least), validators.le(most))


def keys_or_none(value: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """Keys of a Dict as a tuple; a str is one key."""
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)
