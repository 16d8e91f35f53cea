"""Torch's global CPU generator, lent to one random stream at a time.

Code that draws from no other generator (initial weights, dropout) draws from this one. Meanwhile it
continues a stream of the run, and afterwards the program finds it as it was.

The whole process has one. A stream that needs it for a moment gets it at once, and other threads
that want it wait. For the time of a training it goes to the thread that asked first; another thread
trains on without it and gets it later. So threads that train at once stay apart, except for what
they draw from the global generator while it is another one's.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class _Loan:
    """One stream that the generator is lent to, or will be.

    Args:
        streams: the torch generators of a run by name; during the loan the global one is among
            them, so that a checkpoint saves and restores it.
        name: of the stream.
    """

    def __init__(self, streams: dict[str, torch.Generator], name: str) -> None:
        self.thread = _this_thread()
        self._streams, self._name, self._own = streams, name, streams[name]

    def begin(self) -> None:
        """Continue the stream in the global generator."""
        _default().set_state(self._own.get_state())
        self._streams[self._name] = _default()

    def pause(self) -> None:
        """Continue it in its own generator."""
        self._own.set_state(_default().get_state())
        self._streams[self._name] = self._own


class _Lender:
    """Who has the global generator: the last of the loans. Then it goes to the one before."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._loans: list[_Loan] = []
        self._of_program: Any = None  # its state, where the program left it

    def lend(self, streams: dict[str, torch.Generator], name: str, *, at_once: bool) -> _Loan:
        """A new loan, which begins now if it is at once or no other thread has the generator."""
        with self.lock:
            place = self._place(at_once)
            if place < len(self._loans):
                loan = _Loan(streams, name)
                self._loans.insert(place, loan)
                return loan
            if self._loans:
                self._loans[-1].pause()
            else:
                self._of_program = _default().get_state()
            loan = _Loan(streams, name)
            self._loans.append(loan)
            loan.begin()
            return loan

    def _place(self, at_once: bool) -> int:
        """Where a new loan belongs: at the top if at once, else just above those of its thread.

        A thread that has none is put at the bottom: those that asked earlier go before it.
        """
        threads = [loan.thread for loan in self._loans]
        if at_once:
            return len(threads)
        return 1 + max((at for at, one in enumerate(threads) if one == _this_thread()), default=-1)

    def end(self, loan: _Loan) -> None:
        """End a loan, in whatever order they end."""
        with self.lock:
            if loan not in self._loans:
                return
            if loan is not self._loans[-1]:
                self._loans.remove(loan)
                return
            self._loans.pop().pause()
            if self._loans:
                self._loans[-1].begin()
            else:
                _default().set_state(self._of_program)

    def forget_other_threads(self) -> None:
        """In a forked process: only the thread that forked is there.

        If another one had the generator, nobody can give it back: it stays as it is.
        """
        self.lock = threading.RLock()
        mine = [loan for loan in self._loans if loan.thread == _this_thread()]
        self._loans = mine if mine and mine[-1] is self._loans[-1] else []


def _this_thread() -> int:
    return threading.get_ident()


def _default() -> torch.Generator:
    import torch  # not at the top: ranks plan without it

    return torch.default_generator


_lender = _Lender()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lender.forget_other_threads)


@contextlib.contextmanager
def lent_at_once(streams: dict[str, Any], name: str) -> Iterator[None]:
    """Lend the generator to a stream for a moment; other threads that ask for it wait."""
    with _lender.lock:
        loan = _lender.lend(streams, name, at_once=True)
        try:
            yield
        finally:
            _lender.end(loan)


@contextlib.contextmanager
def lent_in_turn(streams: dict[str, Any], name: str) -> Iterator[None]:
    """Lend it to a stream for long; while another thread has it, this one goes on without it."""
    loan = _lender.lend(streams, name, at_once=False)
    try:
        yield
    finally:
        _lender.end(loan)
