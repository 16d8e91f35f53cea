"""Python processes that start in milliseconds: forks of one that has imported torch already.

A test of a run that is killed, or of how a program ends, needs a real process, but not the second
or more that importing torch takes. A `ForkServer` is a Python process that imports slow modules
once and then forks for every program that it is asked to run. Each program is a process of its own,
with its own working directory and output, and can be killed like any other.

Objects from before the fork are hidden from the garbage collector (`gc.freeze`). Otherwise the
collection at the end of every interpreter would copy their memory into each fork. For the same
reason a fork ends before Python frees all modules, which takes half a second where torch is
imported: after its threads and the functions of `atexit`, with its streams flushed.

This module runs on both sides: `ForkServer` and `Fork` in the tests, the rest in the server. It
needs a system with `fork` (Linux, macOS).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

#: Bytes of the length of a request, with which the file descriptors of the program's output and of
#: its status are sent. macOS has no sockets that keep messages apart.
_LENGTH = 4


class ForkServer:
    """A Python process that has imported some modules and runs programs in forks of itself.

    Args:
        modules: imported once, before the first program runs. Threads do not survive a fork, so no
            module may start one.
        environment: variables in addition to those of this process.
    """

    def __init__(
        self, modules: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rlk_testing.tools.forks", str(theirs.fileno()), *modules],
                pass_fds=[theirs.fileno()],
                env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
            )

    def start(
        self,
        *arguments: object,
        cwd: Path,
        path: Path | None = None,
        frees_modules: bool = False,
    ) -> Fork:
        """Start what `python ARGUMENTS…` would run: `-m module …` or `file.py …`.

        Args:
            cwd: the program's working directory.
            path: a further folder of packages for this program, as in `PYTHONPATH`.
            frees_modules: whether it ends as Python does, to the last finalizer: for a test of
                what happens at the end of a process.
        """
        request = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "path": None if path is None else str(path),
            "frees_modules": frees_modules,
        }
        output = tempfile.TemporaryFile()  # noqa: SIM115
        status, theirs = os.pipe()
        message = json.dumps(request).encode()
        length = len(message).to_bytes(_LENGTH, "big")
        socket.send_fds(self._socket, [length], [output.fileno(), theirs])
        self._socket.sendall(message)
        os.close(theirs)
        return Fork(output, status)

    def close(self) -> None:
        """End the server; programs that still run continue."""
        self._socket.shutdown(socket.SHUT_RDWR)  # even if another process inherited our end
        self._socket.close()
        self._process.wait()


class Fork:
    """A program in a process of its own, used as one uses a `subprocess.Popen`.

    Attributes:
        pid: of the process. returncode: None while it runs, negative after a signal.
    """

    def __init__(self, output: Any, status: int) -> None:
        self._output, self._status = output, status
        self.returncode: int | None = None
        self.pid = int(self._next_line())

    def __enter__(self) -> Fork:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """Wait until it ends; it is killed if the block raised an exception."""
        if failure is not None:
            self.kill()
        self.wait()
        self._output.close()
        os.close(self._status)

    def poll(self) -> int | None:
        """The return code, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int(self._next_line())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends and return the return code.

        Raises:
            TimeoutError: if it runs longer than that many seconds.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError(f"still running after {timeout} s; printed {self.printed()!r}")
            select.select([self._status], [], [], left)
        return code

    def printed(self) -> str:
        """What it has written to standard output and standard error so far."""
        self._output.seek(0)
        return str(self._output.read().decode())

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait until it ends and return (what it printed, None)."""
        self.wait(timeout)
        return self.printed(), None

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL, if it still runs."""
        self.send_signal(signal.SIGKILL)

    def _next_line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            found = os.read(self._status, 1)
            assert found, "the fork server ended"
            line += found
        return line.decode()


# ---- in the server -------------------------------------------------------------------------------


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork for every request, and return it in the fork; None at the end."""
    while True:
        length, descriptors, _, _ = socket.recv_fds(connection, _LENGTH, 2)
        _collect_ended()
        if not length:
            return None
        message = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
        output, status = descriptors
        if os.fork() == 0:
            connection.close()
            request = json.loads(message)
            if _wait_for_fork(status):
                os._exit(0)
            _take_place(request["cwd"], output, request["path"])
            return dict(request)
        os.close(output)
        os.close(status)


def _collect_ended() -> None:
    """Reap the forks that have ended, which would otherwise remain as zombies."""
    with contextlib.suppress(ChildProcessError):  # there are none
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _wait_for_fork(status: int) -> bool:
    """Fork again. Returns False in the program's process; True here, after that has ended."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        return False
    os.write(status, f"{pid}\n".encode())
    _, ended = os.waitpid(pid, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    return True


def _take_place(folder: str, output: int, path: str | None) -> None:
    """Give this process the streams, the folder, the packages and the signals of a new program."""
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.chdir(folder)
    # Background processes ignore the first two, and those of `nohup` ignore the last.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if path is not None:
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join([path, *filter(None, known)])
        sys.path.insert(1, path)  # the first is the program's own


def run_program(arguments: list[str]) -> None:
    """Do in this process what `python ARGUMENTS…` does."""
    if arguments[0] == "-m":
        sys.path[0] = os.getcwd()
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(arguments[0]).parent.resolve())
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


class QuickEnd:
    """Ends this process with an exit code, after what else was registered with `atexit`.

    Attributes:
        code: None for a process that is to end as Python does.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        atexit.register(self._end)  # the first that is registered is called last

    def after(self, program: Callable[[], object]) -> None:
        """Call a function, and remember the exit code that its end means.

        After any other exception than `sys.exit` with a number, the process ends as Python does.
        """
        try:
            program()
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                self.code = end.code or 0
            raise
        self.code = 0

    def _end(self) -> None:
        if self.code is not None:
            gc.collect()  # what the program itself has left
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(self.code & 0xFF)


if __name__ == "__main__":
    quick_end = QuickEnd()
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is None:
        quick_end.code = 0
    elif asked["frees_modules"]:
        run_program(asked["arguments"])
    else:
        quick_end.after(partial(run_program, asked["arguments"]))
