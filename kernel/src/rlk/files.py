"""Writes files that neither a crash nor a full disk leaves half written.

All files of a run folder are written through `replacing` and `rlk.growing_file`. If they raise an
`OSError`, `rlk.running.failed_writes` handles it. `write_text` turns it into a message, and
`looking_at` does so for a path that a user typed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rlk.errors import BadFile, RlkError

#: A path that a program gives.
AnyPath = str | os.PathLike[str]
#: How the name of a file that is being written ends: no program but rlk ends a name like this.
_ENDING = ".rlk-unfinished"
#: All of that name, as `unfinished` makes it: `.400.zip.15860-5f0c9a3e.rlk-unfinished`.
_UNFINISHED = re.compile(rf"\..+\.(?P<process>[0-9]+)-[0-9a-f]{{8}}{re.escape(_ENDING)}")
#: Errors of file systems that sync files but no folders, as some shared ones do.
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP)


@contextlib.contextmanager
def looking_at(path: Path, what: str, refusal: type[RlkError] = BadFile) -> Iterator[None]:
    """Turn the system's errors on a path that a user typed into rlk's.

    For example, its name is too long, it has a NUL byte, or a folder on the way may not be entered.
    The caller handles a path that does not exist.

    Args:
        path: the path.
        what: how the error begins (`cannot read runs/one`).
        refusal: the error's class.
    """
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            _look(path)
        yield
    except OSError as error:
        raise refusal(f"{what}: {error.strerror or error}.") from error


def users_path(typed: AnyPath) -> Path:
    """The path that a user typed; a leading `~` is their home folder, as in a shell.

    A name that begins with `~` and is no user's stays as it is.
    """
    return Path(os.path.expanduser(typed))


def cache_folder() -> Path:
    """The user's folder for caches: `XDG_CACHE_HOME`, else `~/.cache`.

    Raises:
        RuntimeError: if neither is known. A container may run as a user without a home.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


def _look(path: Path) -> None:
    """OSError for an impossible path; for some, Python itself raises ValueError."""
    try:
        path.stat()
    except ValueError as error:
        raise OSError(errno.EINVAL, f"{error} in {str(path)!r}") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """An empty file to write to, which replaces `path` at the end and is synced to the disk.

    If anything fails, `path` holds what it held before and nothing else is left. Missing folders
    are created. A link stays, and the file that it leads to is replaced; a pipe or a device is
    written to.
    """
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    aside = unfinished(path, _ENDING)
    try:
        with aside.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _replace(aside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(aside):
            error.filename = str(path)  # the one that the user knows
        raise
    _sync_folder(path.parent)


def unfinished(path: Path, ending: str) -> Path:
    """A hidden file beside `path` to write to until it is complete, which no other write uses.

    Its name has the number of this process, and random letters: other threads may write the same
    file, and so may processes of other machines, which count anew.

    Args:
        path: the file to be written.
        ending: how the name ends.
    """
    short = os.fsdecode(os.fsencode(path.name)[:100])  # bytes, of which a name may have 255
    return path.with_name(f".{short}.{os.getpid()}-{os.urandom(4).hex()}{ending}")


def _replace(source: Path, target: Path) -> None:
    """Give a file the name of another one.

    Windows refuses that while somebody reads the other one, so this waits for two seconds there.
    """
    for _ in range(100 if sys.platform == "win32" else 0):
        try:
            source.replace(target)
        except PermissionError:
            time.sleep(0.02)
        else:
            return
    source.replace(target)


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that a crash does not undo a new name; Windows opens no folder."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(opened)


def write_text(path: Path, text: str) -> None:
    """Write a file of text, as `replacing` does.

    Raises:
        RlkError: if it cannot be written; it then holds what it held before.
    """
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise RlkError(f"{path} cannot be written: {error.strerror}.") from None


def is_unfinished(path: Path) -> bool:
    """Whether a file has the name that `replacing` gives to one that it has not finished."""
    return _UNFINISHED.fullmatch(path.name) is not None


def remove_unfinished(folder: Path, *, owned: bool) -> list[Path]:
    """Delete files that killed processes left half written in a folder; return their paths.

    They are known by the names that `replacing` gives; a user's own hidden files stay.

    Args:
        folder: the folder.
        owned: whether no other process writes runs into it now. Otherwise a file stays whose
            process still runs. The number of a process alone does not tell: in every container
            they begin anew. A file that is open on Windows always stays.
    """
    if not folder.is_dir():
        return []
    removed = []
    for path in sorted(folder.iterdir()):
        found = _UNFINISHED.fullmatch(path.name)
        if found and path.is_file() and (owned or not _is_another(int(found["process"]))):
            try:
                path.unlink(missing_ok=True)
            except PermissionError:
                if sys.platform != "win32":
                    raise
            else:
                removed.append(path)
    return removed


def _is_another(process: int) -> bool:
    """Whether another process with this number runs; never on Windows, where it cannot be asked.

    Signal 0 is Ctrl-C there. A file with this process's own number is from an earlier process,
    because nothing is being written yet when a run takes its folder.
    """
    if process == os.getpid() or sys.platform == "win32":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's process
        pass
    return True
