"""Schedules by the names of Stable Baselines 2.10."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

import attrs

from rlk_schedules import PiecewiseSchedule, linear_interpolation
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
    "Schedule",
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

#: The curves by which `lr_schedule` scales a learning rate: from progress, 0 to 1, to a factor.
SCHEDULES: dict[str, Callable[[float], float]] = {
    "linear": linear_schedule,
    "constant": constant,
    "double_linear_con": double_linear_con,
    "middle_drop": middle_drop,
    "double_middle_drop": double_middle_drop,
}


class Schedule(ABC):
    """The interface of schedules; the classes of this module count as its subclasses."""

    @abstractmethod
    def value(self, step: float) -> float:
        """The value at a timestep."""


Schedule.register(PiecewiseSchedule)


@attrs.frozen
class ConstantSchedule(Schedule):
    """The same value at every timestep."""

    _value: float

    def value(self, step: float) -> float:
        """The value at a timestep."""
        return self._value


@attrs.frozen
class LinearSchedule(Schedule):
    """From `initial_p` to `final_p` in `schedule_timesteps`, and `final_p` from then on."""

    schedule_timesteps: int
    final_p: float
    initial_p: float = 1.0

    def value(self, step: float) -> float:
        """The value at a timestep."""
        done = min(step / self.schedule_timesteps, 1.0)
        return linear_interpolation(self.initial_p, self.final_p, done)


def constfn(val: float) -> Callable[[Any], float]:
    """A function that returns `val` for any argument."""
    return lambda _: val


def get_schedule_fn(value_schedule: float | Callable[[float], float]) -> Callable[[float], float]:
    """A schedule as a function of the remaining fraction of the training, 1 to 0.

    A function is returned as it is; a number becomes a constant function.

    Raises:
        TypeError: if it is neither a number nor a function.
    """
    if isinstance(value_schedule, Real):
        return constfn(float(value_schedule))
    if not callable(value_schedule):
        raise TypeError(f"a schedule is a number or a function, got {value_schedule!r}")
    return value_schedule


class Scheduler:
    """A value that changes along a curve with every step.

    Args:
        initial_value: the value before the curve scales it.
        n_values: the number of steps in total.
        schedule: the name of a curve in `SCHEDULES`; KeyError for others.
    """

    def __init__(self, initial_value: float, n_values: float, schedule: str) -> None:
        self.step = 0.0
        self.initial_value, self.nvalues = initial_value, n_values
        self.schedule = SCHEDULES[schedule]

    def value(self) -> float:
        """The current value; each call advances by one step."""
        current = self.value_steps(self.step)
        self.step += 1.0
        return current

    def value_steps(self, steps: float) -> float:
        """The value after `steps` steps."""
        return self.initial_value * self.schedule(steps / self.nvalues)
