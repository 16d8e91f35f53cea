"""Programs under mpirun and torchrun, with a time limit; tests of what is missing are left out.

Starting a rank takes seconds, so ranks that do not fail run many *jobs* in one start: see
`programs/jobs.py`. Whichever worker of pytest-xdist needs them first starts them, the others wait.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from rlk_testing.tools.launched import HAS_MPI, MPIRUN, Launched

PROGRAMS = Path(__file__).parent / "programs"
#: For a machine of two slow threads that others use too; a hang is what it finds.
LIMIT_SECONDS = 270


class Mpirun:
    """`mpirun -n SIZE python ARGUMENTS`."""

    plugin = "mpi"
    is_there = HAS_MPI

    def command(self, size):
        return [MPIRUN, "-n", str(size), sys.executable]

    def exit_code(self, of_rank):
        return of_rank


class Torchrun:
    """`torchrun --standalone --nproc-per-node SIZE ARGUMENTS`."""

    plugin = "torch-distributed"
    is_there = importlib.util.find_spec("rlk_torch_distributed") is not None

    def command(self, size):
        # torchrun itself, by the interpreter that runs the tests.
        module = [sys.executable, "-m", "torch.distributed.run"]
        return [*module, "--standalone", "--nproc-per-node", str(size)]

    def exit_code(self, of_rank):
        return int(of_rank != 0)  # whatever a rank ends with


LAUNCHERS = {one.plugin: one for one in (Mpirun(), Torchrun())}


class Ranks:
    """Starts programs on several ranks in a folder."""

    def __init__(self, folder, launcher):
        self.folder, self.launcher = folder, launcher
        self.started = []

    def start(self, *arguments, size=2):
        command = [*self.launcher.command(size), *arguments]
        plugin = {"RANKS_PLUGIN": self.launcher.plugin}
        self.started.append(Launched(command, self.folder, LIMIT_SECONDS, plugin))
        return self.started[-1]

    def run(self, *arguments, size=2):
        """(exit code, what was printed)."""
        return self.start(*arguments, size=size).finish()

    def rlk(self, *arguments, size=2):
        return self.run("-m", "rlk", *arguments, size=size)

    def end(self):
        for one in self.started:
            one.end()


@pytest.fixture(scope="session")
def launcher_of():
    """launcher_of(plugin): its launcher; the test is skipped where there is none."""

    def find(plugin):
        if not LAUNCHERS[plugin].is_there:
            pytest.skip(f"{plugin} is not installed")
        return LAUNCHERS[plugin]

    return find


@pytest.fixture
def ranks(tmp_path, launcher_of, request):
    """Ranks of the launcher that the test is parametrised with."""
    started = Ranks(tmp_path, launcher_of(request.param))
    yield started
    started.end()


@pytest.fixture(scope="session")
def programs():
    return PROGRAMS


class Done:
    """What ranks that did many jobs have left in their folder."""

    def __init__(self, folder, plugin):
        self.folder, self.plugin = folder, plugin

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
    """do_jobs(name, launcher, size, jobs, prepare): what `size` ranks have left of jobs by name."""
    fcntl = pytest.importorskip("fcntl", reason="locks of POSIX")

    def do(name, launcher, size, jobs, prepare=lambda folder: None):
        base = tmp_path_factory.getbasetemp()
        base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        folder = base / name
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():  # also after a failure: nothing is done over what is there
                folder.mkdir()
                prepare(folder)
                listed = {job: list(map(str, arguments)) for job, arguments in jobs.items()}
                (folder / "jobs.json").write_text(json.dumps(listed))
                code, printed = Ranks(folder, launcher).run(PROGRAMS / "jobs.py", size=size)
                (folder / "printed.txt").write_text(f"{code}\n{printed}")
            code, _, printed = (folder / "printed.txt").read_text().partition("\n")
            assert code == "0", printed
        return Done(folder, launcher.plugin)

    return do
