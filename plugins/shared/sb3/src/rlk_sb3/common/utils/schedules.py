"""Schedules: functions of the remaining fraction of the training, 1 to 0."""

from __future__ import annotations

from collections.abc import Callable

import attrs


@attrs.frozen
class ConstantSchedule:
    """A constant value."""

    val: float

    def __call__(self, progress_remaining: float) -> float:
        return self.val


@attrs.frozen
class LinearSchedule:
    """A value that changes linearly, and then stays constant.

    Args:
        start, end: the first and the last value.
        end_fraction: the fraction of the training after which the value is `end`; above 0.
    """

    start: float
    end: float
    end_fraction: float

    def __call__(self, progress_remaining: float) -> float:
        done = min((1 - progress_remaining) / self.end_fraction, 1.0)
        return self.start + done * (self.end - self.start)


def _as_schedule(given: float | Callable[[float], float]) -> Callable[[float], float]:
    return given if callable(given) else ConstantSchedule(float(given))


@attrs.frozen
class FloatSchedule:
    """A schedule with float values, from a number or another schedule.

    Args:
        value_schedule: the number or the schedule.
    """

    value_schedule: Callable[[float], float] = attrs.field(converter=_as_schedule)

    def __call__(self, progress_remaining: float) -> float:
        return float(self.value_schedule(progress_remaining))


def get_linear_fn(start: float, end: float, end_fraction: float) -> Callable[[float], float]:
    """The `LinearSchedule` with these arguments."""
    return LinearSchedule(start, end, end_fraction)
