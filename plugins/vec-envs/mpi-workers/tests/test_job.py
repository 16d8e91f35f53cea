"""Rank 0 of a job trains, and then runs the tests of `job/on_ranks.py`; the others host."""

from __future__ import annotations

from pathlib import Path

JOB = Path(__file__).parent / "job"


def test_rank_0_alone_prints_the_plan(start):
    run = ("run", "--algo", "ppo2", "--vec-env", "mpi-workers", "--explain")
    code, printed = start(2, "-m", "rlk", *run).finish()
    assert code == 0 and printed.count("algorithm     ppo2") == 1, printed
    assert "mpi-workers: rank 0 trains, the environments are on rank 1 (" in printed


def test_rank_0_trains_evaluates_and_passes_its_tests_while_two_ranks_host_environments(
    start, tmp_path
):
    run = ("run", "--algo", "ppo2", "--n-envs", 4, "--vec-env", "mpi-workers", "--preset", "none")
    plugins = ("--plugin", "evaluation:every=128", "--plugin", JOB / "runs_tests.py")
    size = ("--timesteps", 256, "--set", "n_steps=16", "--out", "run")
    code, printed = start(3, "-m", "rlk", *run, *plugins, *size).finish()
    assert code == 0, printed
    assert printed.count("done: 256 timesteps") == 1, printed
    assert "mpi-workers: rank 0 trains, the environments are on ranks 1 to 2 (" in printed
    assert (tmp_path / "run" / "best_model.zip").exists()
    assert "the tests on rank 0 ended with 0" in printed and " passed" in printed, printed
