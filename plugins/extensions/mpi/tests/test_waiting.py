"""Waiting polls at first and then sleeps, by a clock of the test's own."""

from __future__ import annotations

import pytest

from rlk_mpi import waiting
from rlk_mpi.waiting import (
    LONGEST_SECONDS,
    SHARE,
    Waiting,
    cores_of_this_process,
    waiting_of,
)

POLL_SECONDS, EAGER_SECONDS = 1e-5, 3e-4
YIELDS, SPINS = Waiting(EAGER_SECONDS, yields=True), Waiting(EAGER_SECONDS, yields=False)


class Clock:
    """In the place of `time`: every look takes a moment, and sleeping takes what it says."""

    def __init__(self):
        self.now, self.slept, self.yielded = 0.0, [], 0

    def perf_counter(self):
        self.now += POLL_SECONDS
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()

    def let_others_run():
        made.yielded += 1

    monkeypatch.setattr(waiting, "time", made)
    monkeypatch.setattr(waiting, "_yield", let_others_run)
    return made


def test_what_is_there_is_not_waited_for(clock):
    YIELDS.until(lambda: True)
    assert clock.now == clock.yielded == 0


@pytest.mark.parametrize("way", [YIELDS, SPINS])
def test_what_comes_soon_is_polled_for(clock, way):
    way.until(lambda: clock.now > EAGER_SECONDS / 2)
    assert clock.slept == []
    assert (clock.yielded > 0) == way.yields


@pytest.mark.parametrize("seconds", [2 * EAGER_SECONDS, 0.01, 1.0])
def test_what_comes_later_is_slept_for_and_noticed_in_time(clock, seconds):
    SPINS.until(lambda: clock.now > seconds)
    late = clock.now - seconds
    assert late <= min(seconds * SHARE, LONGEST_SECONDS) + 2 * POLL_SECONDS
    assert sum(clock.slept) > 0.3 * (seconds - EAGER_SECONDS)
    assert max(clock.slept) <= LONGEST_SECONDS


def test_who_waits_long_may_give_up(clock):
    def give_up(waited):
        assert waited >= EAGER_SECONDS
        if waited > 0.5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        SPINS.until(lambda: False, give_up)
    assert 0.5 < clock.now < 0.5 + 2 * LONGEST_SECONDS


@pytest.mark.parametrize(
    ("cores", "share"),
    [
        ([{0, 1}, {0, 1}], False),
        ([{0, 1}, {0, 1}, {0, 1}], True),
        ([{0}, {1}], False),  # bound by the launcher, each to its own
        ([{0}, {0}], True),
    ],
)
def test_ranks_that_share_cores_let_each_other_run(cores, share):
    assert waiting_of(cores).yields == share


def test_the_cores_of_a_process_are_those_that_it_may_use(monkeypatch):
    monkeypatch.setattr(waiting.os, "sched_getaffinity", lambda process: {3, 5}, raising=False)
    assert cores_of_this_process() == {3, 5}
    monkeypatch.delattr(waiting.os, "sched_getaffinity")
    monkeypatch.setattr(waiting.os, "cpu_count", lambda: 2)
    assert cores_of_this_process() == {0, 1}
