from __future__ import annotations

from rlk.running.clock import Clock


def test_a_clock_tells_what_is_done_and_what_remains():
    clock = Clock(200)
    assert (clock.progress(), clock.remaining()) == (0.0, 1.0)
    clock.timesteps = 50
    assert (clock.progress(), clock.remaining()) == (0.25, 0.75)


def test_a_clock_that_runs_over_is_done():
    clock = Clock(200)
    clock.timesteps = 240
    assert (clock.progress(), clock.remaining()) == (1.0, 0.0)


def test_a_schedule_of_its_own_length_follows_the_same_clock():
    clock = Clock(300)
    clock.timesteps = 50
    assert (clock.fraction_of(100), clock.fraction_of(50), clock.fraction_of(20)) == (0.5, 1.0, 1.0)


def test_a_run_of_no_steps_is_done():
    assert Clock(0).progress() == 1.0


def test_a_clock_that_restarts_keeps_the_timesteps_of_earlier_calls():
    clock = Clock(200)
    for timesteps in (50, 30):
        clock.timesteps = timesteps
        clock.restart()
    assert (clock.timesteps, clock.earlier_timesteps) == (0, 80)
    clock.timesteps = 7
    assert clock.cumulative_timesteps == 87


def test_a_clock_is_restored_as_it_was():
    clock, twin = Clock(200), Clock(1)
    clock.timesteps, clock.iterations, clock.updates = 7, 6, 5
    twin.load_state_dict({**clock.state_dict(), "of_another_version": 4})
    assert vars(twin) == vars(clock)
