"""Programs that a launcher (mpirun, torchrun) starts as several ranks, with a time limit."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

_BESIDE = Path(sys.executable).with_name("mpirun")
#: The launcher that belongs to this Python, or the one that the system finds.
MPIRUN = str(_BESIDE) if _BESIDE.exists() else shutil.which("mpirun")
HAS_MPI = MPIRUN is not None and importlib.util.find_spec("mpi4py") is not None
#: What Open MPI needs to run as root, and with more ranks than cores.
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


class Launched:
    """A launcher, and the ranks that it has started.

    Args:
        command: the launcher, its options, and the program with its arguments.
        folder: the working directory.
        limit_seconds: the test fails if the job takes longer.
        environment: variables in addition to those of this process.

    Attributes:
        process: the launcher, in a session of its own together with its ranks.
    """

    def __init__(
        self,
        command: Sequence[object],
        folder: Path,
        limit_seconds: float,
        environment: Mapping[str, str],
    ) -> None:
        self._limit_seconds = limit_seconds
        own = {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", **environment}
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={**_OPEN_MPI, **os.environ, **own},
            start_new_session=True,
        )

    def wait_for(self, condition: Callable[[], object]) -> None:
        """Wait until the condition holds; the job must not end before."""
        until = time.monotonic() + self._limit_seconds
        while not condition():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < until, "it never got that far"
            time.sleep(0.05)

    def finish(self) -> tuple[int, str]:
        """Wait until the job ends and return (the launcher's exit code, what was printed)."""
        try:
            printed, _ = self.process.communicate(timeout=self._limit_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGTERM)
            printed, _ = self.process.communicate(timeout=30)
            pytest.fail(f"the job hangs; it had printed:\n…{printed[-3000:]}")
        return self.process.returncode, printed

    def end(self) -> None:
        """Kill the launcher and its ranks if they still run."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
