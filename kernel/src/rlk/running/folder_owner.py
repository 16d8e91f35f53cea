"""The folder of a run, which belongs to one process at a time.

The process that trains holds a lock on a small file in it. The system releases the lock when the
process ends, however it ends, so a dead process owns no folder. Reading a run (`rlk evaluate`,
`rlk plot`, `rlk.load`) needs no lock. With several ranks, the one that writes holds it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
import weakref
from pathlib import Path

from rlk.errors import PlanError, RlkError
from rlk.files import remove_unfinished
from rlk.hookspecs import hookimpl
from rlk.program_warnings import warn_program

#: The file in a run folder that names its owner.
OWNER = ".owner"
#: The files whose locks agents of this process hold.
_locks: weakref.WeakSet[_OpenFile] = weakref.WeakSet()
#: The byte of that file that is locked on Windows.
_LOCKED_BYTE = 1 << 30
#: Where files of a run are written.
WRITTEN = ("", "checkpoints")


class OwnedFolder:
    """The folder of a run, created if missing, which this process owns until `release`.

    Files left by killed writes are removed. On a file system without locks there is no owner, and a
    warning says so.

    Raises:
        PlanError: if another process, or another agent in this one, owns it.
        RlkError: if it cannot be created or written to.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._process = path.absolute(), os.getpid()  # the working folder may change
        self._is_new = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = _locked_soon(path / OWNER)
            for name in WRITTEN:
                remove_unfinished(
                    path / name, owned=self._lock is not None and self._lock.is_locked
                )
            self._identity = _identity(path)
        except OSError as error:
            raise RlkError(f"the run folder {path} cannot be used: {error}") from error
        if self._lock is None:
            raise PlanError(in_use(path) or f"{path} is the folder of another run that has begun.")
        _locks.add(self._lock)

    def release(self) -> None:
        """Let other processes use the folder; it is removed if it was created and is empty."""
        lock, self._lock = self._lock, None
        if lock is None or os.getpid() != self._process:
            return
        with contextlib.suppress(OSError):  # the folder may be gone, or may be read-only by now
            if _is_at(lock, self._path / OWNER):
                if sys.platform == "win32":  # it deletes no open file
                    lock.close()
                (self._path / OWNER).unlink()
                if self._is_new:
                    self._path.rmdir()  # raises if it holds anything
        lock.close()

    @hookimpl(tryfirst=True)
    def rlk_write_row(self) -> None:
        """Check, once per row of metrics, that the folder is still the one that was taken.

        While the file system does not answer, nothing is known of it, and the next row asks again.

        Raises:
            FileNotFoundError: once, if it was deleted or replaced; again if the new one is.
        """
        before = self._identity
        with contextlib.suppress(OSError):
            self._identity = _identity(self._path)
        if before in (None, self._identity):  # None: its loss was reported already
            return
        raise FileNotFoundError(
            f"{self._path} {self._what_happened()}; what is still to come is written into a new "
            "folder of that name."
        )

    @hookimpl(tryfirst=True)
    def rlk_training_end(self) -> None:
        """Check again, before the last files are written."""
        self.rlk_write_row()

    def _what_happened(self) -> str:
        """Whether the folder that was taken was moved or deleted, and where its files are."""
        if self._lock is None or os.fstat(self._lock.descriptor).st_nlink == 0:
            return "was deleted during the run. What it held is lost"
        try:
            there = Path(os.readlink(f"/proc/self/fd/{self._lock.descriptor}")).parent
        except OSError:  # only Linux says where an open file is
            return "was moved during the run, with what it held"
        return f"was moved to {there} during the run, with what it held"


def in_use(path: Path) -> str | None:
    """Why a run folder cannot be written to now, naming the process that owns it; None if it can.

    The answer may be outdated at once: only an `OwnedFolder` is certain.
    """
    try:
        with (path / OWNER).open("rb") as file:
            if _lock(file.fileno(), shared=True):
                return None
            owner = file.read().decode(errors="replace") or "another process"
    except OSError:  # there is no such file, it cannot be read, or there are no locks
        return None
    if owner == _this_process():
        return (
            f"{path} is in use by another agent of this process: close() that, or name another "
            "folder. If no variable holds it any more: "
            "for agent in rlk.open_agents(): agent.close()"
        )
    return f"{path} is in use: {owner} trains in it. Wait for it, end it, or name another folder."


class _OpenFile:
    """The owner's file, open until `close`, or until its agent is dropped: without a warning then.

    Python warns of files that are not closed, and nobody has to close an agent.

    Attributes:
        is_locked: whether it is locked; False where the file system has no locks.
    """

    def __init__(self, path: Path) -> None:
        how = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self.descriptor = os.open(path, how, 0o666)
        self.is_locked = False
        #: Closes it once; what is called later does nothing.
        self.close = weakref.finalize(self, os.close, self.descriptor)
        self.close.atexit = False  # the system does, after what closes agents then


def _locked_soon(path: Path) -> _OpenFile | None:
    """As `_locked`, tried for a fifth of a second: whoever asks `in_use` has the lock a moment."""
    for _ in range(10):
        file = _locked(path)
        if file is not None:
            return file
        time.sleep(0.02)
    return None


def _locked(path: Path) -> _OpenFile | None:
    """The owner's file, locked, with this process's number; None if it is locked already."""
    while True:
        file = _OpenFile(path)
        try:
            file.is_locked = _lock(file.descriptor, shared=False)
        except OSError as error:
            warn_program(
                f"the file system of {path.parent} has no locks ({error.strerror or error}), so "
                "rlk would not notice a second run in that folder, which would mix its files"
            )
        else:
            if not file.is_locked:
                file.close()
                return None
        if _is_at(file, path):
            break
        file.close()  # its owner just released it: the name is free, or belongs to another file
    os.ftruncate(file.descriptor, 0)
    with contextlib.suppress(OSError):  # on a full disk it is empty, but still locked
        os.write(file.descriptor, _this_process().encode())
    return file


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _lock(descriptor: int, *, shared: bool) -> bool:
    """Try to lock an open file; whether that succeeded, or another process has locked it.

    Windows has no shared locks, and nobody else can read the bytes that are locked: there it is one
    byte far behind the text.

    Raises:
        OSError: on a file system without locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            position = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, position, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the second on Windows
        return False
    return True


def _is_at(file: _OpenFile, path: Path) -> bool:
    """Whether the open file is the one with that name."""
    try:
        return os.path.samestat(os.fstat(file.descriptor), path.stat())
    except FileNotFoundError:
        return False


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another one of its name; None if there is none.

    Raises:
        OSError: if that cannot be found out, as on a network file system that does not answer.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _close_locks() -> None:
    """Close the locks in a fork, which would otherwise keep them as long as it lives."""
    for file in list(_locks):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locks)
