"""Records the effects of a block of code beyond its memory: imports, processes, written files.

An audit hook stays for as long as the process lives, so there is only one, with `_watchers`.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

import attrs

#: Events that no file may cause.
_FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pickle.find_class")
_watchers: list[Watched] = []
_hooked: list[bool] = []


@attrs.define
class Watched:
    """The recorded effects."""

    imported: set[str] = attrs.Factory(set)  #: modules that were imported
    events: list[str] = attrs.Factory(list)  #: commands that were run, files that were written
    seconds: float = 0.0  #: of processor time
    bytes: int = 0  #: growth of the process's peak memory


@contextlib.contextmanager
def watching() -> Iterator[Watched]:
    """Record what happens inside; the figures are complete at the end."""
    if not _hooked:
        sys.addaudithook(_note)
        _hooked.append(True)
    watched = Watched()
    before, began = _peak(), time.process_time()
    _watchers.append(watched)
    try:
        yield watched
    finally:
        _watchers.remove(watched)
        watched.seconds = time.process_time() - began
        watched.bytes = _peak() - before


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    for watched in _watchers:
        if event == "import":
            watched.imported.add(str(arguments[0]))
        elif event in _FORBIDDEN or (event == "open" and _writes(arguments)):
            watched.events.append(f"{event} {arguments[0]!r:.200}")


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    if isinstance(path, int) or "__pycache__" in str(path):  # an open file, or an installed module
        return False
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
