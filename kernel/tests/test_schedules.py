from __future__ import annotations

import pytest

from rlk.schedules import Clock, Constant, Linear, as_schedule


def test_a_clock_tells_what_is_done_and_what_remains():
    clock = Clock(200)
    assert (clock.progress(), clock.remaining()) == (0.0, 1.0)
    clock.timesteps = 50
    assert (clock.progress(), clock.remaining()) == (0.25, 0.75)


def test_a_clock_that_runs_over_is_done():
    clock = Clock(200)
    clock.timesteps = 240
    assert (clock.progress(), clock.remaining()) == (1.0, 0.0)


def test_progress_counts_from_where_the_schedule_began():
    clock = Clock(300)
    clock.start, clock.timesteps = 100, 150
    assert clock.progress() == 0.25


def test_a_run_of_no_steps_is_done():
    assert Clock(0).progress() == 1.0


def test_a_clock_is_restored_as_it_was():
    clock, twin = Clock(200), Clock(1)
    clock.timesteps, clock.iterations, clock.updates, clock.start = 7, 6, 5, 4
    twin.load_state_dict(clock.state_dict())
    assert vars(twin) == vars(clock)


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
    assert (schedule(1.0), schedule(0.5)) == pytest.approx((at_start, halfway))


@pytest.mark.parametrize("value", ["lin", "lin_", "cos_0.1", "fast", "lin_0.1_2"])
def test_other_text_is_refused_with_what_to_write(value):
    with pytest.raises(ValueError, match=r"write a number, 'lin_0\.001' or a callable"):
        as_schedule(value)


@pytest.mark.parametrize("value", [True, None, [0.1]])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match="a schedule is a number"):
        as_schedule(value)
