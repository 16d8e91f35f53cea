"""The contract of a schedule: a class with an entry point, and not a component of the kernel."""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar

import attrs
import pytest

from rlk_schedules import Schedule
from rlk_schedules.parse import LOOKED_AT
from rlk_schedules.text import find_shape, written

#: Remaining parts of a run, from its start to its end.
_TIMES = [1.0 - step / 200 for step in range(201)]


class ScheduleContract:
    """What every shape of a schedule must do.

    Attributes:
        component: the name that a user types, or a class that is not installed.
        arguments: of the class; by default one number, as in `NAME_0.5`.
    """

    component: ClassVar[str | type[Schedule]] = ""
    arguments: ClassVar[tuple[Any, ...]] = (0.5,)

    def shape(self) -> type[Schedule]:
        """The class of the schedule."""
        return find_shape(self.component) if isinstance(self.component, str) else self.component

    def schedule(self) -> Schedule:
        """A new schedule."""
        shape: Any = self.shape()
        return shape(*self.arguments)

    def test_its_values_are_finite_numbers_in_the_whole_run(self) -> None:
        schedule = self.schedule()
        for remaining in _TIMES:
            value: Any = schedule(remaining)
            assert isinstance(value, (int, float)) and math.isfinite(value), (
                f"where {remaining:g} of the run remains it is {value!r}"
            )

    def test_its_values_depend_on_the_time_alone(self) -> None:
        schedule = self.schedule()
        once = [schedule(remaining) for remaining in _TIMES]
        again = [schedule(remaining) for remaining in reversed(_TIMES)]
        assert again == once[::-1], "a run that is resumed would have other values"

    def test_it_goes_nowhere_that_validators_of_settings_do_not_see(self) -> None:
        schedule = self.schedule()
        values = [schedule(remaining) for remaining in _TIMES]
        seen = [*map(schedule, LOOKED_AT), *schedule.extremes()]
        margin = 1e-9 * max(map(abs, values))
        assert min(seen) - margin <= min(values) and max(values) <= max(seen) + margin, (
            f"it goes from {min(values):g} to {max(values):g}, and a validator that computes it "
            f"at {LOOKED_AT} sees {min(seen):g} to {max(seen):g}: extremes() must return the rest"
        )

    def test_it_cannot_be_changed(self) -> None:
        schedule: Any = self.schedule()
        first = attrs.fields(type(schedule))[0].name
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(schedule, first, getattr(schedule, first))

    def test_files_hold_it(self) -> None:
        schedule = self.schedule()
        text = schedule.as_setting()
        assert json.loads(json.dumps(text)) == text, f"JSON cannot hold {text!r}"
        if isinstance(self.component, str):
            assert written(text) == schedule, f"{text!r} is read as {written(text)!r}"
