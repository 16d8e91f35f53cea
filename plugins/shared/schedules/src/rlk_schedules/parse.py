"""Schedules from what users write: a number, `"lin_0.001"`, or a callable of what remains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk_schedules.shapes import Constant, Linear

if TYPE_CHECKING:
    import attrs

Schedule = Callable[[float], float]
ScheduleLike = float | str | Schedule


def as_schedule(value: ScheduleLike) -> float | Schedule:
    """What a user meant: a number, which stays as it is, or a function of what remains, 1 to 0.

    Raises:
        ValueError: for a string that is neither a number nor `lin_NUMBER`.
        TypeError: for anything else that is not a number or a callable.
    """
    if callable(value):
        return value.value if isinstance(value, Constant) else value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    allowed = "a number, 'lin_0.001' or a callable of the remaining progress"
    if not isinstance(value, str):
        raise TypeError(f"a schedule is {allowed}, got {type(value).__name__}")
    kind, _, number = value.rpartition("_")
    kinds: dict[str, Callable[[float], float | Schedule]]
    kinds = {"": float, "lin": Linear, "linear": Linear}
    try:
        return kinds[kind](float(number))
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is not a schedule: write {allowed}") from None


def is_schedule(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """An attrs validator for fields of type ScheduleLike."""
    try:
        as_schedule(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{attribute.name}: {error}") from None
