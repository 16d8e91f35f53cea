"""Whether what is printed is seen on a terminal, and whether anybody reads it at all."""

from __future__ import annotations

import contextlib
import sys
from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether this stream is one; None is what `sys.stdout` is in a process without it."""
    return stream is not None and stream.isatty()


def output_is_unread(error: BaseException | None) -> bool:
    """Whether an error means that nobody reads what this process prints (`rlk run … | head`).

    A plugin may have lost a pipe or a connection of its own, which is an error like any other.
    """
    if not isinstance(error, BrokenPipeError):
        return False
    return any(_has_lost_its_reader(stream) for stream in (sys.stdout, sys.stderr))


def _has_lost_its_reader(stream: TextIO | None) -> bool:
    import select  # not at the top: planning does without it

    if not hasattr(select, "poll"):
        return True  # on Windows it cannot be asked
    with contextlib.suppress(AttributeError, OSError, ValueError):  # None, closed or no file
        poll = select.poll()
        poll.register(stream.fileno(), 0)  # type: ignore[union-attr]
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
