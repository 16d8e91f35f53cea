from __future__ import annotations

import pytest

from rlk.running.clock import Clock
from rlk_dqn.interval import TimestepInterval


def counts(every, vector_step, timesteps):
    clock = Clock(total_timesteps=100)
    interval, passed = TimestepInterval(every, clock, vector_step), []
    for clock.timesteps in timesteps:
        passed.append(interval.passed())
    return passed


def test_an_interval_has_passed_where_a_multiple_lies_in_between():
    assert counts(25, 1, (10, 24, 26, 49, 50, 120, 121)) == [0, 0, 1, 0, 1, 2, 0]


def test_timesteps_of_earlier_calls_of_learn_count():
    clock = Clock(total_timesteps=10)
    interval, passed = TimestepInterval(25, clock, 1), []
    for _ in range(6):
        clock.timesteps = 10
        passed.append(interval.passed())
        clock.restart()
        passed.append(interval.passed())
    assert passed == [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]  # at 30 and at 50


@pytest.mark.parametrize(
    ("every", "vector_step", "passed"),
    [
        (1, 1, [4, 4, 4]),
        (2, 1, [2, 2, 2]),
        (3, 1, [1, 1, 2]),  # at 3, at 6, at 9 and 12
        (1, 2, [2, 2, 2]),  # at most one in a vector step
        (1, 4, [1, 1, 1]),
        (6, 4, [0, 1, 1]),  # at 6 and at 12
    ],
)
def test_each_vector_step_that_passes_a_multiple_counts_once(every, vector_step, passed):
    assert counts(every, vector_step, (4, 8, 12)) == passed
