"""Schedules from the values of settings, and validators of such settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs

from rlk.errors import RlkError
from rlk.signatures import takes
from rlk.signatures import written as written_function
from rlk.strict_types import own_number
from rlk_schedules.shapes import Constant, Schedule
from rlk_schedules.text import of_one_number, written

#: The type of a setting that may be scheduled; `Schedule` also stands for its text and list forms.
ScheduleLike = float | Schedule | Callable[[float], float]
#: The remaining parts of the run at which a validator computes the values of a schedule.
LOOKED_AT = (1.0, 0.75, 0.5, 0.25, 0.0)


def as_schedule(value: ScheduleLike | str | list[Any]) -> float | Callable[[float], float]:
    """A user's value as a number, or as a function of the remaining part of the run, 1 to 0.

    A schedule that never changes becomes a number, so it is not evaluated again.

    Raises:
        ValueError: for a value that is not a schedule.
        RlkError: by the function that is returned, if the user's function returns anything but a
            finite number of at least 0.
    """
    if not isinstance(value, Schedule) and callable(value):
        return UserFunction(value)
    found = written(value)
    return found.value if isinstance(found, Constant) else found


@attrs.frozen
class UserFunction:
    """A function of the user, whose values are checked when they are used."""

    function: Callable[[float], float]

    def __call__(self, remaining: float) -> float:
        """The value when this part of the run remains, 1 to 0."""
        value = own_number(self.function(remaining))
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value) and value >= 0):
            raise RlkError(
                f"the schedule {written_function(self.function)} returned {value!r} where "
                f"{remaining:g} of the run remained. It must return a number of at least 0."
            )
        return float(value)


def scaled(value: ScheduleLike | str, name: str) -> float | Callable[[float], float]:
    """A value times the curve with that name, as `lr_schedule` of Stable Baselines 2.10.

    Args:
        value: at the start of the run; with the name `constant` it may be a schedule itself.
        name: `constant`, `linear`, `double_linear_con`, `middle_drop`, `double_middle_drop`, or
            another shape that is described by one number.

    Raises:
        ValueError: for another name, or if the value is already a schedule.
    """
    found = as_schedule(value)
    if name == "constant":
        return found
    if callable(found):
        raise ValueError(f"{value} is a schedule already, and cannot be scaled by {name!r}")
    return as_schedule(of_one_number(name, found))


# ---- validators ----------------------------------------------------------------------------------


def is_schedule(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """An attrs validator for fields of type ScheduleLike: values must be finite and at least 0.

    A function of the user is not called; it must take one argument.
    """
    try:
        found = as_schedule(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name}: {error}") from None
    if isinstance(found, Schedule):
        values = [*(found(remaining) for remaining in LOOKED_AT), *found.extremes()]
    elif callable(found):
        values = []
        _refuse_other_arguments(value, attribute.name)
    else:
        values = [found]
    for one in values:
        if not (math.isfinite(one) and one >= 0.0):
            where = f" in {value!s}" if isinstance(found, Schedule) else ""
            wanted = "a finite number of at least 0"
            raise ValueError(f"{attribute.name} must be {wanted}, and is {one:g}{where}")


def _refuse_other_arguments(function: Callable[..., Any], name: str) -> None:
    if not takes(function, 1):
        raise ValueError(
            f"{name}: the schedule {written_function(function)} is called with the part of the run "
            "that remains, 1 to 0: def schedule(remaining)"
        )


def is_schedule_or_off(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Likewise for a setting that a negative number turns off."""
    if not is_off(value):
        is_schedule(_, attribute, value)


def is_off(value: Any) -> bool:
    """Whether it is a negative number, in any notation (`constant_-1`)."""
    try:
        found = as_schedule(value)
    except ValueError:
        return False
    return not callable(found) and found < 0.0


def is_curve_of(rate: str) -> Callable[[Any, Any, Any], None]:
    """An attrs validator for the name of a curve that scales another setting.

    Args:
        rate: the name of that setting (`learning_rate`).
    """

    def validate(config: object, attribute: attrs.Attribute[Any], name: str) -> None:
        value = getattr(config, rate)
        if name != "constant" and callable(as_schedule(value)):
            raise ValueError(
                f"{rate}={value} is a schedule already, and {attribute.name}={name!r} would scale "
                f"it: set {attribute.name}=constant to use it as it is"
            )
        try:
            scaled(value, name)
        except ValueError as error:
            raise ValueError(f"{attribute.name}: {error}") from None

    return validate
