"""Schedules by the names of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlk_schedules import (
    ConstantSchedule,
    LinearSchedule,
    PiecewiseSchedule,
    linear_interpolation,
)
from rlk_schedules.curves import (
    constant,
    double_linear_con,
    double_middle_drop,
    linear_schedule,
    middle_drop,
)

__all__ = [
    "SCHEDULES",
    "ConstantSchedule",
    "LinearSchedule",
    "PiecewiseSchedule",
    "Scheduler",
    "constant",
    "constfn",
    "double_linear_con",
    "double_middle_drop",
    "get_schedule_fn",
    "linear_interpolation",
    "linear_schedule",
    "middle_drop",
]

#: The curves by which `lr_schedule` scales a learning rate: progress, 0 to 1, to a factor.
SCHEDULES: dict[str, Callable[[float], float]] = {
    "linear": linear_schedule,
    "constant": constant,
    "double_linear_con": double_linear_con,
    "middle_drop": middle_drop,
    "double_middle_drop": double_middle_drop,
}


def constfn(val: float) -> Callable[[Any], float]:
    """A function that returns this number, whatever it is given."""
    return lambda _: val


def get_schedule_fn(value_schedule: float | Callable[[float], float]) -> Callable[[float], float]:
    """A function of what remains of a training: itself, or one that returns this number.

    Raises:
        TypeError: for neither a number nor a function.
    """
    if isinstance(value_schedule, (float, int)):
        return constfn(float(value_schedule))
    if not callable(value_schedule):
        raise TypeError(f"a schedule is a number or a function, got {value_schedule!r}")
    return value_schedule


class Scheduler:
    """A value that a curve scales while steps are counted.

    Args:
        initial_value: the value at the start.
        n_values: how many steps there will be.
        schedule: the name of a curve in `SCHEDULES`.
    """

    def __init__(self, initial_value: float, n_values: float, schedule: str) -> None:
        self.step = 0.0
        self.initial_value, self.nvalues = initial_value, n_values
        self.schedule = SCHEDULES[schedule]

    def value(self) -> float:
        """The value now; the next call is a step further."""
        current = self.value_steps(self.step)
        self.step += 1.0
        return current

    def value_steps(self, steps: float) -> float:
        """The value after so many steps."""
        return self.initial_value * self.schedule(steps / self.nvalues)
