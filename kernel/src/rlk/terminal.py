"""Whether what is printed is seen on a terminal."""

from __future__ import annotations

from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether this stream is one; None is what `sys.stdout` is in a process without it."""
    return stream is not None and stream.isatty()
