"""What rlk expects of every schedule, checked on those of this library."""

from __future__ import annotations

from rlk_testing import ScheduleContract


class TestConstant(ScheduleContract):
    component = "constant"


class TestLinear(ScheduleContract):
    component = "linear"


class TestLinearThatEndsEarly(ScheduleContract):
    component = "linear"
    arguments = (0.5, 0.1, 0.3)


class TestMiddleDrop(ScheduleContract):
    component = "middle_drop"


class TestDoubleLinearCon(ScheduleContract):
    component = "double_linear_con"


class TestDoubleMiddleDrop(ScheduleContract):
    component = "double_middle_drop"


class TestPiecewise(ScheduleContract):
    component = "piecewise"
    arguments = ([(0.0, 1.0), (0.3, 2.0), (1.0, 0.0)],)
