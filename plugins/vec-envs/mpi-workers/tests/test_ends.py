"""A rank that ends or hangs ends the job in seconds; the error names it; no process remains."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

JOB = Path(__file__).parent / "job"
FAULTS = JOB / "faults.py"


def test_a_rank_that_is_killed_is_named(start, tmp_path):
    code, printed = start(3, FAULTS, "kill").finish()
    assert code != 0, printed
    process = re.search(r"rank 2 is process (\d+)", printed)
    assert process, printed
    said = (tmp_path / "said.txt").read_text()
    assert f"mpi: rank 2 (process {process[1]}) has died" in said, said + printed


def test_an_environment_that_hangs_is_named_with_its_line_and_the_job_ends(start):
    code, printed = start(3, FAULTS, "hang").finish()
    assert code == 1, printed
    assert "EnvironmentFailed: rank 2: environment 1 is in step (faults.py line" in printed
    assert "The rank's traceback:" in printed and "time.sleep(1000)" in printed, printed
    assert "There was no answer for 1 s: it hangs, and the job ends." in printed


def test_an_environment_that_exits_ends_the_job_with_its_code_and_rank(start):
    code, printed = start(3, FAULTS, "exit").finish()
    assert code == 7, printed
    assert "mpi: rank 2 of 3 failed, and all end:" in printed and "SystemExit" in printed, printed
    assert "faults.py" in printed, "the traceback"


def test_a_job_ends_well_when_environments_take_long_to_close(start):
    code, printed = start(2, FAULTS, "close").finish()
    assert code == 0 and printed.count("closed\n") == 2, printed
    assert printed.index("the program has ended") < printed.index("closed")
    assert "rank 1 still closes its environments, and rank 0 waits for it" in printed


@pytest.mark.parametrize("what", ["plugin", "setting", "environment"])
def test_a_rank_whose_request_is_refused_ends_the_job(start, what):
    code, printed = start(2, JOB / "refused.py", what).finish()
    assert code == 2, printed
    assert re.search("Error: .*no.such|UnknownName: .*no.such", printed), printed
    assert "mpi: that was rank 1; all end." in printed


@pytest.mark.launchers
@pytest.mark.parametrize(("what", "code"), [("learner exits", 5), ("learner raises", 1)])
def test_the_job_ends_with_rank_0(start, what, code):
    found, printed = start(3, FAULTS, what).finish()
    assert found == code, printed
    assert ("KeyError: 'mine'" in printed) == (code == 1)


@pytest.mark.launchers
def test_the_job_ends_when_rank_0_is_killed(start):
    code, printed = start(3, FAULTS, "learner is killed").finish()
    assert code != 0, printed


@pytest.mark.launchers
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_launcher_ends_all_and_leaves_what_to_go_on_from(
    start, tmp_path, number, code
):
    run = ("run", "--algo", "ppo2", "--n-envs", 4, "--vec-env", "mpi-workers", "--preset", "none")
    job = start(3, "-m", "rlk", *run, "--timesteps", 10_000_000, "--out", "run")
    progress = tmp_path / "run" / "progress.csv"
    job.wait_for(lambda: progress.exists() and progress.stat().st_size > 0)
    job.process.send_signal(number)
    found, printed = job.finish()
    assert found == code and f"stopped by {number.name}" in printed, printed
    assert list((tmp_path / "run" / "checkpoints").iterdir())


@pytest.mark.launchers
def test_what_the_command_line_says_of_an_environment_that_raises(start):
    run = ("run", "--algo", "ppo2", "--n-envs", 2, "--vec-env", "mpi-workers", "--timesteps", 500)
    code, printed = start(3, "-m", "rlk", *run, "--env", f"{FAULTS}:Raises").finish()
    assert code == 1, printed
    assert "rank 1: environment 0 failed in step: RuntimeError: the sensor came off" in printed
    assert "faults.py" in printed, "the traceback"
