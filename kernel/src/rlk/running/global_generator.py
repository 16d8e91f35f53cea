"""Torch's global CPU generator, lent to one random stream at a time.

Code that draws from no other generator (initial weights, dropout) draws from this one. Meanwhile it
continues a stream of the run, and afterwards the program finds it as it was.

The whole process has one. A stream that needs it for a moment gets it at once, and other threads
that want it wait. For the time of a training it goes to the thread that asks first; another thread
trains on without it. So threads that train at once stay apart, except for what they draw from the
global generator while it is another one's.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

#: Held by the thread that has the generator for a moment, or for a training.
_moment, _training = threading.RLock(), threading.RLock()


def _renew_locks() -> None:
    """In a forked process: threads that may hold them are not there."""
    global _moment, _training
    _moment, _training = threading.RLock(), threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


@contextlib.contextmanager
def _lent(streams: dict[str, Any], name: str) -> Iterator[None]:
    """Continue a stream in the global generator within this context.

    Args:
        streams: the torch generators of a run by name; during the loan the global one is among
            them, so that a checkpoint saves and restores it.
        name: of the stream.
    """
    import torch  # not at the top: ranks plan without it

    shared, own = torch.default_generator, streams[name]
    with _moment:
        before = shared.get_state()
        shared.set_state(own.get_state())
        streams[name] = shared
    try:
        yield
    finally:
        with _moment:
            own.set_state(shared.get_state())
            streams[name] = own
            shared.set_state(before)


@contextlib.contextmanager
def lent_at_once(streams: dict[str, Any], name: str) -> Iterator[None]:
    """Lend the generator to a stream for a moment; other threads that ask for it wait."""
    with _moment, _lent(streams, name):
        yield


@contextlib.contextmanager
def lent_in_turn(streams: dict[str, Any], name: str) -> Iterator[None]:
    """Lend it to a stream for long; while another thread has it, this one goes on without it."""
    training = _training  # after a fork there is another one
    if not training.acquire(blocking=False):
        yield
        return
    try:
        with _lent(streams, name):
            yield
    finally:
        training.release()
