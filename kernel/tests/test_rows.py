"""When a row of metrics is due."""

from __future__ import annotations

import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.one_process import OneProcess
from rlk.running import train
from rlk_testing.stand_ins import StandIn


def test_rows_come_every_log_interval(make):
    class Counts:
        rows = 0

        @hookimpl
        def rlk_log(self, row):
            Counts.rows += 1
            row["mine"] = 1.0

    class Logger:
        rows: list = []

        @hookimpl
        def rlk_write_row(self, run, row):
            self.rows.append((run.timesteps, row["mine"]))

    agent = make(Logger(), Counts(), log_interval=2)
    agent.learn(160)
    episodes = agent.run.clock.episodes  # this algorithm counts episodes, of 8 steps
    assert episodes == 20 and Counts.rows == 10 == len(Logger.rows)
    assert Logger.rows[0] == (16, 1.0)


def test_rows_count_iterations_where_no_environment_is_stepped(make, rlk_stand_in_kernel):
    class Still:
        def __init__(self, run):
            self.run = run

        def collect(self):
            self.run.clock.timesteps += 4
            return True

        def forget(self): ...

        def state_dict(self):
            return {}

        def load_state_dict(self, state): ...

    class Rows:
        found: list = []

        @hookimpl
        def rlk_write_row(self, run):
            self.found.append(run.timesteps)

    class LearnsNothing(StandIn):
        def batches(self, storage):
            return []

    still = Component(name="still", factory=Still, steps_nothing=True)
    rlk_stand_in_kernel.registries.collectors.register("still", still)
    make(Rows(), algorithm=LearnsNothing, collector="still", log_interval=3).learn(28)
    assert Rows.found == [12, 24, 28]


@pytest.mark.parametrize(
    ("log_interval", "expected"),
    [(1, [4, 8, 12, 16, 20]), (2, [4, 12, 20]), (1000, [20])],
)
def test_a_row_does_not_wait_for_episodes_that_are_long(make, monkeypatch, log_interval, expected):
    class Logger:
        rows: list = []

        @hookimpl
        def rlk_write_row(self, run):
            self.rows.append(run.timesteps)

    monkeypatch.setattr(train, "LONG_EPISODE", 4)  # episodes have 8 steps
    make(Logger(), log_interval=log_interval).learn(20)
    assert Logger.rows == expected


class Joins:
    """A run of so many ranks, which all have the same to say."""

    def __init__(self, size):
        self.size = size

    @hookimpl
    def rlk_make_communicator(self):
        alike = OneProcess()
        alike.size = self.size
        return alike


@pytest.mark.parametrize(("n_envs", "n_ranks"), [(2, 1), (1, 2)])
@pytest.mark.parametrize(("longest", "expected"), [(4, [8, 16, 24, 32]), (8, [16, 32])])
def test_the_steps_of_every_environment_count_by_themselves(
    make, monkeypatch, n_envs, n_ranks, longest, expected
):
    class Logger:
        rows: list = []

        @hookimpl
        def rlk_write_row(self, run):
            self.rows.append(run.timesteps)

    # Episodes have 8 steps, and the two environments together 8 timesteps in a collection.
    monkeypatch.setattr(train, "LONG_EPISODE", longest)
    make(Logger(), Joins(n_ranks), n_envs=n_envs).learn(32)
    assert Logger.rows == expected


def test_every_training_ends_with_a_row_also_if_its_timesteps_are_those_of_the_last(make):
    class Logger:
        rows: list = []

        @hookimpl
        def rlk_write_row(self, run):
            self.rows.append(run.timesteps)

    agent = make(Logger(), log_interval=1000)
    agent.learn(8).learn(8)
    assert Logger.rows == [8, 8]
