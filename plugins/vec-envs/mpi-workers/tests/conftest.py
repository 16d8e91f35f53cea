"""Programs under mpirun, with a time limit; no process may remain, however they end."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from rlk_testing.tools.launched import HAS_MPI, MPIRUN, Launched
from rlk_testing.tools.processes import of_session

#: Enough for a machine of two slow threads that others use too; a hang takes all of it.
LIMIT_SECONDS = 150
#: The folder from which every rank imports the environments of the job's tests.
JOB = Path(__file__).parent / "job"
collect_ignore = [] if HAS_MPI else ["test_job.py", "test_ends.py"]


@pytest.fixture
def start(tmp_path):
    """start(SIZE, *ARGUMENTS): starts a job, no process of which may remain in its session."""
    jobs = []

    def begin(size, *arguments):
        command = [MPIRUN, "-n", size, sys.executable, *arguments]
        jobs.append(Launched(command, tmp_path, LIMIT_SECONDS, {"PYTHONPATH": str(JOB)}))
        return jobs[-1]

    yield begin
    until = time.monotonic() + 10.0
    for job in jobs:
        left = job.process.poll() is None or of_session(job.process.pid)
        while job.process.poll() is not None and left and time.monotonic() < until:
            time.sleep(0.05)
            left = of_session(job.process.pid)
        job.end()
        assert not left, f"processes are left: {left}"
