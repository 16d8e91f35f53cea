"""Printing on streams that a program may have replaced or closed, and whether anybody reads it."""

from __future__ import annotations

import contextlib
import sys
from typing import IO, TextIO


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether this stream is one.

    A stream that cannot be asked is none: `sys.stdout` is None in a process without it, and may be
    closed, or an object of the program's that can only write.
    """
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, OSError, ValueError):
        return False


def print_on(stream: TextIO | None, text: str) -> None:
    r"""Print a text at once; nothing is printed on a stream that is closed, or None.

    A character that the stream's encoding lacks is printed as `\u65e5`, as errors show it: the
    name of a folder must not end the training that prints it.

    Raises:
        OSError: if it cannot be written, as on a full disk.
    """
    if stream is None or getattr(stream, "closed", False):
        return
    if getattr(stream, "errors", "strict") == "strict":
        encoding = getattr(stream, "encoding", None) or "utf-8"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    print(text, file=stream)
    if hasattr(stream, "flush"):  # an object of the program's may only write
        stream.flush()


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
