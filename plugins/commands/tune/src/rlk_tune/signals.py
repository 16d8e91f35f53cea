"""Signals interrupt a search where it is, except while its storage is written."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from rlk_cli.signals import CODES, Interrupted


class Interruptions:
    """How the signals that end a process interrupt its main thread."""

    def __init__(self) -> None:
        self._is_held = False
        self._late: Interrupted | None = None

    @contextlib.contextmanager
    def enabled(self) -> Iterator[None]:
        """A context in which SIGTERM and SIGHUP interrupt like Ctrl-C, so a trial ends properly."""
        numbers = [getattr(signal, name) for name in CODES if hasattr(signal, name)]
        mine = [one for one in numbers if signal.getsignal(one) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._interrupt) for number in mine}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A context whose end a signal waits for; a second one interrupts at once.

        Raises:
            Interrupted: at the end, if there was a signal.
        """
        self._is_held, self._late = True, None
        try:
            yield
        finally:
            self._is_held = False
            if self._late is not None:
                raise self._late

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        interrupted = Interrupted(signal.Signals(number).name, frame)
        if not self._is_held or self._late is not None:
            raise interrupted
        self._late = interrupted


#: Those of this process; signals are the process's, too.
INTERRUPTIONS = Interruptions()


@contextlib.contextmanager
def kept_from_processes(number: int) -> Iterator[None]:
    """A context; processes that are started in it never get this signal.

    They inherit that the main thread blocks it. Another thread may still get it meanwhile, so
    `Interruptions.held` is needed as well. On Windows, where nothing can be blocked, it is ignored.
    """
    if not hasattr(signal, "pthread_sigmask"):
        handler = signal.signal(number, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(number, handler)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
