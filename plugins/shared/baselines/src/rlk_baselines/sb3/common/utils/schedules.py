"""Schedules: of what remains of the training, 1 to 0."""

from __future__ import annotations

from collections.abc import Callable

import attrs


@attrs.frozen
class ConstantSchedule:
    """The same number at all times."""

    val: float

    def __call__(self, progress_remaining: float) -> float:
        return self.val


@attrs.frozen
class LinearSchedule:
    """From one number to another.

    Args:
        start, end: the numbers.
        end_fraction: the part of the training after which it stays at `end`.
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
    """A number, or a schedule, whose values are floats.

    Args:
        value_schedule: the one or the other.
    """

    value_schedule: Callable[[float], float] = attrs.field(converter=_as_schedule)

    def __call__(self, progress_remaining: float) -> float:
        return float(self.value_schedule(progress_remaining))


def get_linear_fn(start: float, end: float, end_fraction: float) -> Callable[[float], float]:
    """As `LinearSchedule`."""
    return LinearSchedule(start, end, end_fraction)
