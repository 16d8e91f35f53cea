"""`ranks`: runs a program under mpirun, with a time limit, or skips where there is none."""

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

PROGRAMS = Path(__file__).parent / "programs"
#: For a machine of two slow threads that others use too; a hang is what it finds.
LIMIT_SECONDS = 150
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


class Ranks:
    """Starts `mpirun -n SIZE python ARGUMENTS` in a folder of the test's own."""

    def __init__(self, mpirun, folder):
        self.mpirun, self.folder = mpirun, folder
        self.started = []

    def start(self, *arguments, size=2):
        environment = {**OPEN_MPI, **os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        command = [self.mpirun, "-n", str(size), sys.executable, *map(str, arguments)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env=environment,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments, size=2):
        """(exit code, what was printed)."""
        return self.finish(self.start(*arguments, size=size))

    def rlk(self, *arguments, size=2):
        return self.run("-m", "rlk", *arguments, size=size)

    def finish(self, process):
        try:
            printed, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            printed, _ = process.communicate(timeout=30)
            pytest.fail(f"ranks hang; they had printed:\n…{printed[-3000:]}")
        return process.returncode, printed

    def wait_for(self, condition, process):
        until = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until, "it never got that far"
            time.sleep(0.05)

    def end(self):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


@pytest.fixture
def ranks(tmp_path):
    beside = Path(sys.executable).with_name("mpirun")
    mpirun = str(beside) if beside.exists() else shutil.which("mpirun")
    if mpirun is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("needs mpirun and mpi4py: pip install 'rlk-mpi[mpi]'")
    started = Ranks(mpirun, tmp_path)
    yield started
    started.end()


@pytest.fixture
def programs():
    return PROGRAMS
