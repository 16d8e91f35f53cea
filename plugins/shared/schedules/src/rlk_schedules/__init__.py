"""Schedules for rlk: numbers that change while a run goes on. It imports no torch."""

from rlk_schedules.parse import Schedule, ScheduleLike, as_schedule, is_schedule
from rlk_schedules.shapes import Constant, Linear, Piecewise, interpolated

__all__ = [
    "Constant",
    "Linear",
    "Piecewise",
    "Schedule",
    "ScheduleLike",
    "as_schedule",
    "interpolated",
    "is_schedule",
]
