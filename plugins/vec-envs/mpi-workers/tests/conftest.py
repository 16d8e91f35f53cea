"""Programs under mpirun, with a time limit; nothing may be left of them, however they end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: For a machine of two slow threads that others use too; a hang is what it finds.
LIMIT_SECONDS = 150
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
BESIDE = Path(sys.executable).with_name("mpirun")
MPIRUN = str(BESIDE) if BESIDE.exists() else shutil.which("mpirun")
#: Every rank imports the environments of the job's tests from there.
JOB = Path(__file__).parent / "job"
HAS_MPI = MPIRUN is not None and importlib.util.find_spec("mpi4py") is not None
collect_ignore = [] if HAS_MPI else ["test_job.py", "test_ends.py"]


class Job:
    """`mpirun -n SIZE python ARGUMENTS` in a folder."""

    def __init__(self, folder, size, arguments):
        own = {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": str(JOB)}
        self.process = subprocess.Popen(
            [MPIRUN, "-n", str(size), sys.executable, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={**OPEN_MPI, **os.environ, **own},
            start_new_session=True,
        )

    def wait_for(self, condition):
        until = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < until, "it never got that far"
            time.sleep(0.05)

    def finish(self):
        """(exit code, what was printed)."""
        try:
            printed, _ = self.process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGTERM)
            printed, _ = self.process.communicate(timeout=30)
            pytest.fail(f"the job hangs; it had printed:\n…{printed[-3000:]}")
        return self.process.returncode, printed

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


def of_session(session):
    """The processes of a session that run; mpirun starts one here, and its ranks stay in it."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, _, _, of = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended meanwhile
            continue
        if int(of) == session and state != "Z":
            found.append(int(entry))
    return found


@pytest.fixture
def start(tmp_path):
    """start(SIZE, *ARGUMENTS): a job, of which no process and no shared memory may be left."""
    jobs = []

    def begin(size, *arguments):
        jobs.append(Job(tmp_path, size, arguments))
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
