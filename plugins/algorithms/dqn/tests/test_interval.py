from __future__ import annotations

from types import SimpleNamespace

from rlk_dqn.interval import TimestepInterval


def test_an_interval_has_passed_where_a_multiple_lies_in_between():
    clock = SimpleNamespace(timesteps=0)
    interval, passed = TimestepInterval(25, clock), []
    for clock.timesteps in (10, 24, 26, 49, 50, 120, 121, 3, 30):
        passed.append(interval.passed())
    assert passed == [False, False, True, False, True, True, False, True, True]
