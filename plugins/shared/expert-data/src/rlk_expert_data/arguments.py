"""Checks of arguments that are numbers, whose errors name the argument."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from rlk.errors import PlanError


def checked_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`; 2.0 is 2, as in settings.

    Raises:
        PlanError: for anything else.
    """
    if not _is_number(value) or value < least or not float(value).is_integer():
        raise PlanError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def checked_positive(name: str, value: Any, most: float = math.inf) -> float:
    """A finite number above 0, and at most `most`.

    Raises:
        PlanError: for anything else.
    """
    if not _is_number(value) or not 0.0 < value <= most or math.isinf(value):
        bound = "" if math.isinf(most) else f" and at most {most:g}"
        raise PlanError(f"{name} must be a number above 0{bound}, got {value!r}.")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
