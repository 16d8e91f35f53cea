"""The processes of this machine: from /proc or, where there is none (macOS), from `ps`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import attrs

_PROC = Path("/proc")


@attrs.frozen
class Process:
    """What is known of a process.

    Attributes:
        is_zombie: it has ended, and its parent has not waited for it yet.
    """

    parent: int
    is_zombie: bool


def runs(pid: int) -> bool:
    """Whether that process runs; a zombie does not."""
    found = _in_proc(str(pid)) if _has_proc() else _told_by_ps().get(pid)
    return found is not None and not found.is_zombie


def descendants(pid: int) -> list[int]:
    """All descendants of a process, zombies too."""
    children: dict[int, list[int]] = {}
    for child, process in _listed().items():
        children.setdefault(process.parent, []).append(child)
    below = list(children.get(pid, ()))
    for found in below:  # the list grows meanwhile
        below += children.get(found, ())
    return below


def of_session(session: int) -> list[int]:
    """The processes of a session that run."""
    running = [pid for pid, process in _listed().items() if not process.is_zombie]
    return [pid for pid in running if _session_of(pid) == session]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):  # it has ended meanwhile; another user's
        return None


def _listed() -> dict[int, Process]:
    """All processes, by their ids."""
    if not _has_proc():
        return _told_by_ps()
    found = {name: _in_proc(name) for name in os.listdir(_PROC) if name.isdigit()}
    return {int(name): process for name, process in found.items() if process is not None}


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _in_proc(name: str) -> Process | None:
    """The process of a folder in /proc; None if it has been waited for."""
    try:
        told = (_PROC / name / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = told.rpartition(")")[2].split()[:2]
    return Process(int(parent), state == "Z")


def _told_by_ps() -> dict[int, Process]:
    """All processes but `ps` itself, which is a child of this one."""
    command = ["ps", "-ax", *("-o", "pid="), *("-o", "ppid="), *("-o", "stat=")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:
        lines = ps.communicate()[0].splitlines()
    assert ps.returncode == 0, "ps lists no processes"
    rows = [line.split() for line in lines]
    found = {int(pid): Process(int(parent), state[0] == "Z") for pid, parent, state in rows}
    del found[ps.pid]
    return found
