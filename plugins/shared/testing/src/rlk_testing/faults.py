"""Faults that a test brings about: a disk that is full, and a Ctrl-C in the middle of a step."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

import pytest


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
def ctrl_c_after(seconds: float) -> Iterator[None]:
    """Ctrl-C after so many seconds; what stands inside must raise KeyboardInterrupt."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no timers of POSIX")

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
