"""Validators of settings with one number, or one number per dimension of an action.

Imports no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs


def not_negative(
    _: object, attribute: attrs.Attribute[Any], value: float | Iterable[float]
) -> None:
    """Raise ValueError for a number below 0."""
    if any(each < 0 for each in (value if isinstance(value, Iterable) else [value])):
        raise ValueError(f"{attribute.name} must be at least 0, got {value!r}")
