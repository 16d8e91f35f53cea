"""What files do on Windows, imitated: it opens no folder, and keeps what somebody has open.

Locks are real: those of POSIX stand for its own.
"""

from __future__ import annotations

import errno
import os
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlk.errors import PlanError
from rlk.files import remove_unfinished, replacing
from rlk.restoring.named_code import code_in
from rlk.running.folder_owner import OWNER, OwnedFolder, in_use

fcntl = pytest.importorskip("fcntl", reason="only imitated elsewhere")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="the imitation looks up there which files are open"
)


def locking(descriptor: int, mode: int, length: int) -> None:
    """As `msvcrt.locking`: nobody else can read the bytes that are locked."""
    assert (mode, length) == (WINDOWS.LK_NBLCK, 1)
    assert os.lseek(descriptor, 0, os.SEEK_CUR) > os.fstat(descriptor).st_size
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


WINDOWS = SimpleNamespace(LK_NBLCK=2, locking=locking)


def kill(process: int, number: int) -> None:
    raise AssertionError(f"signal {number} to process {process}: 0 is Ctrl-C on Windows")


@pytest.fixture(autouse=True)
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", as_module("msvcrt", WINDOWS))
    monkeypatch.setattr(os, "kill", kill)
    real = {name: getattr(os, name) for name in ("open", "unlink", "replace")}

    def opened(path: Any, *args: Any, **kwargs: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        found: int = real["open"](path, *args, **kwargs)
        return found

    def refuse_open(*paths: Any) -> None:
        for path in map(os.fspath, paths):
            if path in open_files():
                raise PermissionError(errno.EACCES, "[WinError 32] used by another process", path)

    def unlink(path: Any, *args: Any, **kwargs: Any) -> None:
        refuse_open(path)
        real["unlink"](path, *args, **kwargs)

    def replace(source: Any, target: Any) -> None:
        refuse_open(source, target)
        real["replace"](source, target)

    for function, name in ((opened, "open"), (unlink, "unlink"), (replace, "replace")):
        monkeypatch.setattr(os, name, function)


def as_module(name: str, members: SimpleNamespace) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(vars(members))
    return module


def open_files() -> set[str]:
    """The paths of all files that this process has open."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        if entry.is_symlink():
            found.add(os.path.realpath(entry))
    return found


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    for text in (b"first", b"second"):
        with replacing(tmp_path / "model.zip") as file:
            file.write(text)
        assert (tmp_path / "model.zip").read_bytes() == text
    assert os.listdir(tmp_path) == ["model.zip"]


def test_a_file_that_somebody_reads_is_replaced_when_they_have_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(b"old")
    reader = path.open("rb")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            reader.close()

    monkeypatch.setattr("rlk.files.time.sleep", sleep)
    with replacing(path) as file:
        file.write(b"new")
    assert len(waits) == 3 and path.read_bytes() == b"new"
    with path.open("rb"), pytest.raises(PermissionError), replacing(path) as file:
        file.write(b"newer")
    assert sum(waits) == pytest.approx(2, abs=0.1) and path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["model.zip"]


def test_what_a_killed_process_left_is_removed_but_not_what_is_being_written(
    tmp_path: Path,
) -> None:
    left, written = (
        tmp_path / f".{number}.zip.{process}-0a1b2c3d.rlk-unfinished"
        for number, process in ((8, 4000), (9, 1))
    )
    left.touch()
    with written.open("wb"):
        assert remove_unfinished(tmp_path, owned=True) == [left]
        assert os.listdir(tmp_path) == [written.name]


def test_a_run_folder_has_one_owner_who_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = OwnedFolder(tmp_path / "run")
    assert str(os.getpid()) in (tmp_path / "run" / OWNER).read_text()
    assert "another agent of this process" in (in_use(tmp_path / "run") or "")
    with pytest.raises(PlanError, match="another agent of this process"):
        OwnedFolder(tmp_path / "run")
    folder.release()
    assert not (tmp_path / "run").exists()
    OwnedFolder(tmp_path / "run").release()


@pytest.mark.parametrize(
    ("text", "names_code"),
    [
        ("./mine.py:Maze", True),
        ("C:/lab/mine.py:Maze", True),
        (r"C:\lab\mine.py", True),
        (r"\\host\share\mine.py:Maze", True),
        ("C:/lab/evil.dll", True),
        ("evil.dylib", True),
        (r"C:\lab\maze.txt", False),
        ("C: a note", False),
    ],
)
def test_a_path_with_a_drive_is_known_as_code(text: str, names_code: bool) -> None:
    assert (code_in(text) == text) is names_code
