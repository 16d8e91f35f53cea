"""Starts worker processes: by fork, by spawn, or by a fork server of our own.

The standard library's spawn and forkserver import the user's main script again in every worker,
which runs it if it has no `if __name__ == "__main__"`, and they leave a server and a resource
tracker running. Here a worker is a plain new interpreter that runs this package and has the
learner's `sys.path`; classes and functions of the main script are sent by value (`sent_code`). A
worker closes all inherited file descriptors except its own socket.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Protocol

from rlk.errors import EnvironmentFailed, PlanError
from rlk_subprocess import worker

#: Before anything else is imported, Ctrl-C is left to the learner, as later by `leave_to_learner`.
_RUN = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "import sys; n = int(sys.argv[1]); sys.path[:] = sys.argv[2:]; del sys.argv[1:]; "
)
#: Environment variables of mpirun; a child process that has them and imports MPI hangs.
_MPI = ("OMPI_", "PMI_", "PMIX_", "MPI_LOCAL", "HYDI_")


class Process(Protocol):
    """A worker process; it has the interface of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        ...

    def send_signal(self, number: int) -> None: ...


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Launcher:
    """Starts the workers of one vector environment.

    Args:
        method: fork, spawn or forkserver.
    """

    def __init__(self, method: str) -> None:
        if os.name != "posix":
            raise PlanError(
                "the backend 'subprocess' passes file descriptors to its workers, which this "
                "platform cannot. Use --vec-env dummy."
            )
        self._method = method
        self._server = _Server() if method == "forkserver" else None
        self._learners: list[socket.socket] = []

    def start(self, env_fns: list[Callable[[], Any]]) -> tuple[socket.socket, Process]:
        """Start a worker; returns the learner's end of its channel, and the process."""
        ours, theirs = socket.socketpair()
        is_open = [end for end in self._learners if end.fileno() >= 0]  # not of replaced workers
        self._learners = [*is_open, ours]
        with theirs:
            if self._server is not None:
                return ours, self._server.fork(theirs)
            if self._method == "fork":
                return ours, _Forked(theirs, self._learners, env_fns)
            return ours, _interpreter("rlk_subprocess.worker", theirs)

    def close(self) -> None:
        """Close what is open on this side; call it when all workers have ended."""
        for end in self._learners:
            end.close()
        if self._server is not None:
            self._server.close()


def _interpreter(module: str, end: socket.socket) -> subprocess.Popen[bytes]:
    """Start an interpreter that runs the module's main on a socket."""
    if not sys.executable:
        raise PlanError("this Python does not know its own executable. Use start_method=fork.")
    flags = ["-O"] * sys.flags.optimize + [f"-W{option}" for option in sys.warnoptions]
    run = f"{_RUN}from {module} import main; main(n)"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_MPI)}
    return subprocess.Popen(
        [sys.executable, *flags, "-c", run, str(end.fileno()), *map(str, sys.path)],
        stdin=subprocess.DEVNULL,
        env=environment,
        pass_fds=(end.fileno(),),
    )


class _Forked:
    """A worker forked from this very process."""

    def __init__(
        self,
        theirs: socket.socket,
        learners: list[socket.socket],
        env_fns: list[Callable[[], Any]],
    ) -> None:
        worker.flush_streams()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            for number in (signal.SIGTERM, signal.SIGCHLD):  # the learner's handlers must not run
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            for end in learners:
                end.close()
            worker.run_forked(theirs.fileno(), env_fns)

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # other code has waited for it
                self.returncode = 0
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class _Served:
    """A worker forked from the server, which is its parent."""

    def __init__(self, server: _Server, pid: int) -> None:
        self._server = server
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self._server.look_after(self)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            self._server.signal(self.pid, number)


class _Server:
    """The learner's side of the fork server."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        #: By PID; when a worker has ended, the system may give its PID to another one.
        self._running: dict[int, _Served] = {}
        self._forked: list[_Served] = []
        self._rest = ""
        with theirs:
            try:
                self._process = _interpreter("rlk_subprocess.server", theirs)
            except BaseException:
                self._ours.close()
                raise

    def fork(self, theirs: socket.socket) -> _Served:
        with contextlib.suppress(OSError):  # it did not start: see below
            socket.send_fds(self._ours, [b"fork\n"], [theirs.fileno()])
        while not self._forked:
            if not self._listen(1.0) and self._process.poll() is not None:
                raise EnvironmentFailed(
                    "the server that forks the workers did not start (exit code "
                    f"{self._process.poll()}). Its own output may say why; start_method=spawn "
                    "does without it."
                )
        return self._forked.pop()

    def look_after(self, worker: _Served) -> None:
        """Note the exit code of a worker, if it has ended."""
        while self._listen(0.0):
            pass
        is_lost = worker.returncode is None and self._process.poll() is not None
        if is_lost and not _exists(worker.pid):
            worker.returncode = -signal.SIGKILL  # the exit code is lost with the server

    def signal(self, pid: int, number: int) -> None:
        try:
            self._ours.sendall(f"signal {pid} {int(number)}\n".encode())
        except OSError:
            # The server has ended, so nobody reaps its workers: the PID is still this worker's.
            if _exists(pid):
                os.kill(pid, number)

    def _listen(self, seconds: float) -> bool:
        """Read the messages of the server; False if nothing came."""
        try:
            self._ours.settimeout(seconds)
            data = self._ours.recv(4096)
        except OSError:
            return False
        *lines, self._rest = (self._rest + data.decode()).split("\n")
        for line in lines:
            verb, pid, *code = line.split()
            if verb == "forked":
                self._running[int(pid)] = _Served(self, int(pid))
                self._forked.append(self._running[int(pid)])
            else:
                self._running.pop(int(pid)).returncode = int(code[0])
        return bool(data)

    def close(self) -> None:
        """Let the server end; it ends all remaining workers."""
        self._ours.close()
        try:
            self._process.wait(3.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
