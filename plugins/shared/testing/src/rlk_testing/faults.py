"""Faults that a test brings about: a disk that is full, and a Ctrl-C in the middle of a step."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

#: How long a test waits for what hangs before it fails.
PATIENCE_SECONDS = 20.0


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file can become any longer: writing raises an `OSError`, also through a buffer."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def ctrl_c_after(seconds: float, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Ctrl-C after so many seconds; what stands inside must end by KeyboardInterrupt.

    The test fails if it ends otherwise, or goes on for as many seconds of patience.
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
    """What stands inside fails with these words if it takes so many seconds, time and again."""
    with _alarm(lambda: pytest.fail(what), seconds, seconds):
        yield


@contextlib.contextmanager
def _alarm(ring: Callable[[], NoReturn], seconds: float, again: float) -> Iterator[None]:
    """Calls a function after so many seconds, and as often again, in the main thread.

    A timer that ran before (that of an enclosing alarm, or of a limit for every test) goes on.
    """
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no timers of POSIX")
    before = signal.signal(signal.SIGALRM, lambda number, frame: ring())
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)
