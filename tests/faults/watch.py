"""Records the effects of a block of code beyond its memory: imports, processes, written files.

An audit hook stays for as long as the process lives, so there is only one, with `_watchers`.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

#: Events that no file may cause.
_FORBIDDEN = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
    *("shutil.rmtree", "socket.connect", "ctypes.dlopen", "pickle.find_class"),
)
#: The state of this process, on Linux.
_STATUS = Path("/proc/self/status")
_watchers: list[Watched] = []
_hooked: list[bool] = []


@attrs.define
class Watched:
    """The recorded effects."""

    imported: set[str] = attrs.Factory(set)  #: modules that were imported
    events: list[str] = attrs.Factory(list)  #: that are forbidden, and files opened to write
    bytes: int = 0  #: by which its memory at most exceeded that at the beginning


@contextlib.contextmanager
def watching() -> Iterator[Watched]:
    """Record what happens inside; the figures are complete at the end."""
    if not _hooked:
        sys.addaudithook(_note)
        _hooked.append(True)
    watched = Watched()
    _forget_peak()
    before = _peak()
    _watchers.append(watched)
    try:
        yield watched
    finally:
        _watchers.remove(watched)
        watched.bytes = _peak() - before


def _forget_peak() -> None:
    """Let the peak be that of memory from now on, where the system can (Linux)."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most memory that this process has had; elsewhere than on Linux, in all its life.

    Windows does not say it in Python: it is 0 there.
    """
    if sys.platform == "win32":
        return 0
    if not _STATUS.exists():
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10
    return int(re.findall(r"VmHWM:\s+(\d+) kB", _STATUS.read_text())[0]) << 10


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    for watched in _watchers:
        if event == "import":
            watched.imported.add(str(arguments[0]))
        elif _is_cached_module(arguments):
            continue
        elif event in _FORBIDDEN or (event == "open" and _writes(arguments)):
            watched.events.append(f"{event} {arguments!r:.200}")


def _is_cached_module(arguments: tuple[Any, ...]) -> bool:
    """Whether it is the folder or file in which Python keeps a compiled installed module."""
    return bool(arguments) and isinstance(arguments[0], str) and "__pycache__" in arguments[0]


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    if isinstance(path, int):  # an open file
        return False
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
