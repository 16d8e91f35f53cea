"""The contract of schedules fails where one is broken."""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import attrs
import pytest

from rlk_schedules import Schedule
from rlk_testing import ScheduleContract

COUNT = itertools.count()


@attrs.frozen
class Cosine(Schedule):
    """Good: from `initial` to 0."""

    name: ClassVar[str] = "cosine"
    initial: float

    def __call__(self, remaining):
        return self.initial * self.curve(remaining)

    def curve(self, remaining):
        return (1.0 - math.cos(math.pi * remaining)) / 2.0


class IsInfinite(Cosine):
    def curve(self, remaining):
        return math.inf if remaining < 0.1 else 1.0


class IsAText(Cosine):
    def curve(self, remaining):
        return 1.0 if remaining else "0"

    def __call__(self, remaining):
        return self.curve(remaining)


class CountsCalls(Cosine):
    def curve(self, remaining):
        return 1.0 / (1 + next(COUNT))


class DipsWhereNobodyLooks(Cosine):
    def curve(self, remaining):
        return 1.0 - 2.0 * (0.3 < remaining < 0.4)


class SaysWhereItDips(DipsWhereNobodyLooks):
    def extremes(self):
        return (-self.initial,)


@attrs.define
class Changes(Schedule):
    name: ClassVar[str] = "changes"
    initial: float

    def __call__(self, remaining):
        return self.initial


class HoldsNoText(Cosine):
    def as_setting(self):
        return {1.0}


@pytest.mark.parametrize(
    ("schedule", "check"),
    [
        (IsInfinite, "test_its_values_are_finite_numbers_in_the_whole_run"),
        (IsAText, "test_its_values_are_finite_numbers_in_the_whole_run"),
        (CountsCalls, "test_its_values_depend_on_the_time_alone"),
        (DipsWhereNobodyLooks, "test_it_goes_nowhere_that_validators_of_settings_do_not_see"),
        (Changes, "test_it_cannot_be_changed"),
        (HoldsNoText, "test_files_hold_it"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_schedule_fails(rlk_fails, schedule, check):
    error = "TypeError: Object of type set is not JSON" if schedule is HoldsNoText else ""
    rlk_fails(ScheduleContract, Cosine, schedule, check, error)


def test_a_schedule_may_say_where_it_goes_besides(rlk_verdict):
    suite = type("Suite", (ScheduleContract,), {"component": SaysWhereItDips})
    check = "test_it_goes_nowhere_that_validators_of_settings_do_not_see"
    assert rlk_verdict(suite, check) == "passed"


def test_an_installed_schedule_is_looked_up_by_its_name(rlk_verdict):
    suites = [type("Suite", (ScheduleContract,), {"component": one}) for one in ("linear", "cosin")]
    verdicts = [rlk_verdict(suite, "test_files_hold_it") for suite in suites]
    assert verdicts[0] == "passed"
    assert verdicts[1].startswith("error: ValueError: there is no schedule 'cosin'")
