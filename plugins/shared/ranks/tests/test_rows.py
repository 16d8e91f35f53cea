"""Ranks merge every row of metrics, so all of them write one, or none does."""

from __future__ import annotations

import csv

import pytest


def rows_of(folder):
    """(timesteps, mean return of an evaluation), as they are written."""
    with (folder / "progress.csv").open() as file:
        return [
            (row["time/total_timesteps"], row["eval/mean_reward"]) for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("ranks", ["mpi"], indirect=True)
def test_ranks_write_rows_of_evaluations_together_though_rank_0_alone_evaluates(ranks, programs):
    """Iterations are 32 timesteps; the last evaluation is news after the row that was due there."""
    code, printed = ranks.rlk(
        *("run", "--algo", "ppo2", "--env", "CartPole-v1", "--preset", "none", "--seed", "5"),
        *("--plugin", ranks.launcher.plugin, "--plugin", f"{programs / 'stops.py'}:Rank0AtABorder"),
        *("--plugin", "evaluation:every=64,episodes=1", "--log-interval", "3"),
        *("--set", "n_steps=16", "--timesteps", "100000", "--out", "out"),
    )
    assert code == 0 and "rank 0 has enough (rank 0)" in printed, printed
    rows = rows_of(ranks.folder / "out")
    assert [timesteps for timesteps, _ in rows] == ["64", "96", "96"]
    assert [bool(evaluated) for _, evaluated in rows] == [True, False, True]


@pytest.mark.parametrize("ranks", ["mpi"], indirect=True)
def test_all_ranks_write_the_rows_that_a_callback_of_rank_0_alone_asks_for(ranks, programs):
    """Iterations are 32 timesteps, and every third has a row in any case."""
    code, printed = ranks.run(programs / "evaluates.py")
    assert code == 0, printed
    rows = rows_of(ranks.folder / "out")
    assert [timesteps for timesteps, _ in rows] == ["64", "96", "128", "192"]
    assert [bool(evaluated) for _, evaluated in rows] == [True, False, True, True]
