from __future__ import annotations

import subprocess
import sys

import attrs
import pytest

import rlk
from rlk_schedules import Constant, Linear, Piecewise, as_schedule, is_schedule


def at(schedule, remaining):
    return schedule(remaining) if callable(schedule) else schedule


def test_a_linear_schedule_reaches_its_end_at_its_fraction():
    schedule = Linear(1.0, 0.2, fraction=0.5)
    found = [schedule(remaining) for remaining in (1.0, 0.75, 0.5, 0.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.2])


def test_a_linear_schedule_of_no_fraction_is_at_its_end_at_once():
    assert Linear(1.0, 0.25, fraction=0.0)(1.0) == 0.25


@pytest.mark.parametrize(
    ("value", "at_start", "halfway"),
    [
        (0.3, 0.3, 0.3),
        (1, 1.0, 1.0),
        ("0.3", 0.3, 0.3),
        ("1e-3", 0.001, 0.001),
        ("lin_0.001", 0.001, 0.0005),
        ("linear_2", 2.0, 1.0),
        (lambda remaining: remaining**2, 1.0, 0.25),
        (Constant(4), 4.0, 4.0),
    ],
)
def test_what_a_user_may_write(value, at_start, halfway):
    schedule = as_schedule(value)
    assert (at(schedule, 1.0), at(schedule, 0.5)) == pytest.approx((at_start, halfway))


@pytest.mark.parametrize("value", ["lin", "lin_", "cos_0.1", "fast", "lin_0.1_2"])
def test_other_text_is_refused_with_what_to_write(value):
    with pytest.raises(ValueError, match=r"write a number, 'lin_0\.001' or a callable"):
        as_schedule(value)


@pytest.mark.parametrize("value", [True, None, [0.1]])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match="a schedule is a number"):
        as_schedule(value)


@pytest.mark.parametrize("value", [0.3, 1, "0.3", Constant(0.3)])
def test_what_never_changes_stays_a_number(value):
    assert type(as_schedule(value)) is float


def test_a_setting_is_refused_by_its_name():
    @attrs.frozen
    class Config:
        rate: float = attrs.field(validator=is_schedule)

    assert Config("lin_0.1").rate == "lin_0.1"
    with pytest.raises(ValueError, match="rate: 'fast' is not a schedule"):
        Config("fast")
    with pytest.raises(ValueError, match="rate: a schedule is a number"):
        Config(None)


# ---- piecewise -----------------------------------------------------------------------------------


def test_a_piecewise_schedule_gives_its_values_at_its_times_and_lines_between_them():
    schedule = Piecewise([(0, 1.0), (10, 3.0), (30, 2.0)])
    # A quarter of the way from 1 to 3, then a half and three quarters of that from 3 to 2.
    found = [schedule.value(time) for time in (0, 2.5, 10, 20, 25, 30)]
    assert found == pytest.approx([1.0, 1.5, 3.0, 2.5, 2.25, 2.0])


def test_in_a_run_its_times_are_the_part_that_is_done():
    schedule = Piecewise([(0.0, 1.0), (0.5, 0.2), (1.0, 0.1)])
    found = [schedule(remaining) for remaining in (1.0, 0.75, 0.5, 0.25, 0.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.15, 0.1])


def test_another_interpolation_gets_both_values_and_how_far_it_is():
    seen = []

    def steps(left, right, alpha):
        seen.append((left, right, alpha))
        return left

    schedule = Piecewise([(0, 5.0), (4, 7.0)], interpolation=steps)
    assert schedule.value(1) == 5.0 and schedule.value(4) == 7.0
    assert seen == [(5.0, 7.0, 0.25)]


def test_outside_its_endpoints_it_gives_the_outside_value():
    schedule = Piecewise([(2, 1.0), (4, 3.0)], outside_value=9)
    assert [schedule.value(time) for time in (1.9, 2, 4, 4.1)] == [9.0, 1.0, 3.0, 9.0]


@pytest.mark.parametrize("time", [1, 5])
def test_without_an_outside_value_it_refuses_to_be_asked(time):
    with pytest.raises(AssertionError, match=f"from 2 to 4 and was asked for {time}"):
        Piecewise([(2, 1.0), (4, 3.0)]).value(time)


def test_two_endpoints_at_one_time_are_a_jump():
    schedule = Piecewise([(0, 0.0), (1, 1.0), (1, 5.0), (2, 6.0)])
    assert [schedule.value(time) for time in (0.5, 1, 1.5)] == [0.5, 5.0, 5.5]


def test_one_endpoint_is_a_value_at_one_time():
    assert Piecewise([(0.5, 2.0)], outside_value=1.0)(0.5) == 2.0


@pytest.mark.parametrize("endpoints", [[], [(1, 0.0), (0, 1.0)]])
def test_endpoints_that_are_out_of_order_are_refused(endpoints):
    with pytest.raises(ValueError, match="in the order of time"):
        Piecewise(endpoints)


# ---- in a run ------------------------------------------------------------------------------------


def test_a_learning_rate_follows_it_from_collection_to_collection():
    seen = []

    class Notes:
        @rlk.hookimpl
        def rlk_rollout_end(self, run):
            seen.append(round(run.optimise.groups["policy"].learning_rate.item(), 6))

    rate = Piecewise([(0.0, 0.4), (0.5, 0.2), (1.0, 0.0)])
    settings = {"n_steps": 8, "nminibatches": 1, "learning_rate": rate, "seed": 0}
    with rlk.make("ppo2", plugins=[Notes()], **settings) as agent:
        agent.learn(32)
    assert seen == [0.4, 0.3, 0.2, 0.1]


def test_it_imports_no_torch():
    script = "import sys, rlk_schedules; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
