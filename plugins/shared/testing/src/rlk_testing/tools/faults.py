"""Faults that a test can cause: a disk that is full or gone, and Ctrl-C in the middle of a step."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn

import pytest

#: How long a test waits for something that hangs before it fails.
PATIENCE_SECONDS = 20.0


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Inside, no file can grow: writing raises an `OSError`, also through a buffer."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def disk_gone_after(n_bytes: int) -> Iterator[None]:
    """Inside, a file that `Path.open` opens unbuffered takes so many bytes; then its disk is gone.

    Not even the part of the data that was written can be cut off any more.
    """

    class File(FileIO):
        left = n_bytes

        def write(self, data: Any) -> int:
            if not self.left:
                self.truncate()
            written = super().write(data[: self.left])
            self.left -= written
            return written

        def truncate(self, size: int | None = None) -> NoReturn:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    opened = Path.open

    def open_(path: Path, mode: str = "r", buffering: int = -1, **more: Any) -> Any:
        return opened(path, mode, buffering, **more) if buffering else File(path, mode)

    with pytest.MonkeyPatch.context() as gone:
        gone.setattr(Path, "open", open_)
        yield


@contextlib.contextmanager
def ctrl_c_after(seconds: float, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Ctrl-C after so many seconds; the code inside must then end with KeyboardInterrupt.

    The test fails if the code ends in another way, or still runs `patience` seconds after Ctrl-C.
    """
    interrupted = False

    def interrupt() -> NoReturn:
        nonlocal interrupted
        if interrupted:
            pytest.fail(f"it went on for {patience:g} seconds after Ctrl-C: let it through")
        interrupted = True
        raise KeyboardInterrupt

    with _alarm(interrupt, seconds, patience):
        try:
            yield
        except KeyboardInterrupt:
            return
    pytest.fail("Ctrl-C was lost: KeyboardInterrupt must get through to the caller")


@contextlib.contextmanager
def failing_after(seconds: float, what: str) -> Iterator[None]:
    """Fail with this message if the code inside takes longer than so many seconds.

    In case the code catches the failure, it is raised again after every further such period.
    """
    with _alarm(lambda: pytest.fail(what), seconds, seconds):
        yield


@contextlib.contextmanager
def _alarm(ring: Callable[[], NoReturn], seconds: float, again: float) -> Iterator[None]:
    """Call a function in the main thread after `seconds`, and then every `again` seconds.

    A timer that ran before (of an enclosing alarm, or of a time limit for tests) is restored.
    """
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no timers of POSIX")
    timer = signal.getitimer(signal.ITIMER_REAL)
    before = signal.signal(signal.SIGALRM, lambda number, frame: ring())
    try:  # the alarm may ring before the code inside has begun
        signal.setitimer(signal.ITIMER_REAL, seconds, again)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)
