"""Files, sockets and pipes that are open in this process, where the system lists them (Linux)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_LIST = "/proc/self/fd"
#: Memory that processes share has a descriptor, which lives as long as the arrays in it.
_MEMORY = "/memfd:"


def can_be_listed(_: object = None) -> bool:
    """Whether this system lists what a process has open; a condition for `applies`."""
    return os.path.isdir(_LIST)


def open_now() -> dict[int, str]:
    """Descriptor -> the file's path, or `socket:[4711]`, of everything that is open."""
    found = {}
    for name in os.listdir(_LIST):
        with contextlib.suppress(FileNotFoundError):  # the one that lists them is closed again
            found[int(name)] = os.readlink(f"{_LIST}/{name}")
    return found


@contextlib.contextmanager
def nothing_left_open(advice: str) -> Iterator[None]:
    """Raises AssertionError if something is opened inside and still open at the end.

    Keep a reference to whatever may have opened it: Python closes the files of objects that it
    deletes.

    Args:
        advice: what to do, for the message.
    """
    before = open_now()
    yield
    new = [place for number, place in open_now().items() if before.get(number) != place]
    left = [place for place in new if not place.startswith(_MEMORY)]
    assert not left, f"left open: {', '.join(left)}: {advice}"
