"""Programs under mpirun, with a time limit. Where there is no MPI, tests that need it are left out.

Starting a rank takes seconds, so ranks that do not fail run many *jobs* in one start: see
`programs/jobs.py`. Whichever worker of pytest-xdist needs them first starts them, the others wait.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
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
BESIDE = Path(sys.executable).with_name("mpirun")
MPIRUN = str(BESIDE) if BESIDE.exists() else shutil.which("mpirun")
HAS_MPI = MPIRUN is not None and importlib.util.find_spec("mpi4py") is not None
collect_ignore = [] if HAS_MPI else ["test_ends.py", "test_jobs.py"]


class Ranks:
    """Starts `mpirun -n SIZE python ARGUMENTS` in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def start(self, *arguments, size=2):
        environment = {**OPEN_MPI, **os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        command = [MPIRUN, "-n", str(size), sys.executable, *map(str, arguments)]
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
    started = Ranks(tmp_path)
    yield started
    started.end()


@pytest.fixture(scope="session")
def programs():
    return PROGRAMS


class Done:
    """What ranks that did many jobs have left in their folder."""

    def __init__(self, folder):
        self.folder = folder

    def printed(self, job, rank=0):
        return (self.folder / f"{job}.{rank}.txt").read_text()

    def code(self, job):
        """The exit code of a job, which all ranks must agree on."""
        files = sorted(self.folder.glob(f"{job}.[0-9].code"))
        (code,) = {path.read_text() for path in files}
        return int(code)

    def facts(self, job):
        """What `programs/equal.py` wrote about each rank."""
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob(f"{job}.*.json"))]


@pytest.fixture(scope="session")
def do_jobs(tmp_path_factory):
    """do_jobs(name, size, jobs, prepare): what `size` ranks have left of jobs by name."""

    def do(name, size, jobs, prepare=lambda folder: None):
        base = tmp_path_factory.getbasetemp()
        base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        folder = base / name
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "printed.txt").exists():
                folder.mkdir(exist_ok=True)
                prepare(folder)
                listed = {job: list(map(str, arguments)) for job, arguments in jobs.items()}
                (folder / "jobs.json").write_text(json.dumps(listed))
                code, printed = Ranks(folder).run(PROGRAMS / "jobs.py", size=size)
                assert code == 0, printed
                (folder / "printed.txt").write_text(printed)
        return Done(folder)

    return do
