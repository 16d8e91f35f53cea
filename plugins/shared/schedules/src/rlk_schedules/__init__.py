"""Schedules for rlk: numbers that change during a run. Imports no torch."""

from rlk_schedules.by_timestep import (
    PiecewiseSchedule,
    linear_interpolation,
)
from rlk_schedules.parse import (
    ScheduleLike,
    as_schedule,
    is_curve_of,
    is_off,
    is_schedule,
    is_schedule_or_off,
    scaled,
)
from rlk_schedules.shapes import (
    Constant,
    DoubleLinearCon,
    DoubleMiddleDrop,
    Linear,
    MiddleDrop,
    Piecewise,
    Schedule,
)

__all__ = [
    "Constant",
    "DoubleLinearCon",
    "DoubleMiddleDrop",
    "Linear",
    "MiddleDrop",
    "Piecewise",
    "PiecewiseSchedule",
    "Schedule",
    "ScheduleLike",
    "as_schedule",
    "is_curve_of",
    "is_off",
    "is_schedule",
    "is_schedule_or_off",
    "linear_interpolation",
    "scaled",
]
