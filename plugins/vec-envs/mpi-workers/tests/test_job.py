"""What a job of three ranks does; `job/on_ranks.py` has the tests that its rank 0 runs."""

from __future__ import annotations

from pathlib import Path

JOB = Path(__file__).parent / "job"


def test_rank_0_passes_its_own_tests_while_two_ranks_host_environments(start):
    tests = JOB / "on_ranks.py"
    code, printed = start(3, JOB / "main.py", tests, "-k", "not hangs", f"--rootdir={JOB}").finish()
    assert code == 0, printed
    assert " passed" in printed and "failed" not in printed, printed


def test_the_command_line_trains_on_rank_0_evaluates_and_lets_the_others_go(start, tmp_path):
    run = ("run", "--algo", "ppo2", "--n-envs", 4, "--vec-env", "mpi-workers", "--preset", "none")
    more = ("--timesteps", 256, "--set", "n_steps=16", "--plugin", "evaluation:every=128")
    code, printed = start(3, "-m", "rlk", *run, *more, "--out", "run").finish()
    assert code == 0, printed
    assert printed.count("done: 256 timesteps") == 1, printed
    assert "mpi-workers: rank 0 trains, 4 environments are on 2 other ranks" in printed
    assert (tmp_path / "run" / "best_model.zip").exists()
