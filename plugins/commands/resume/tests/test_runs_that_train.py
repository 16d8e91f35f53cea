"""`rlk resume` of a run that still trains."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlk.running import saved_files
from rlk.running.folder_owner import OWNER, OwnedFolder
from rlk_testing.command_line import ended


@pytest.fixture(scope="module")
def left(trained: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 60 timesteps, with a checkpoint at its end."""
    out = tmp_path_factory.mktemp("runs") / "run"
    assert trained("--timesteps", 60, "--out", out) == 0
    return out


@contextlib.contextmanager
def trained_by_another(folder: Path) -> Iterator[None]:
    """While another process owns a run folder, as far as its file says."""
    owner = OwnedFolder(folder)
    (folder / OWNER).write_text("process 7 on here")
    try:
        yield
    finally:
        owner.release()


@pytest.mark.parametrize("command", ["resume", "evaluate"])
def test_a_run_that_trains_and_has_saved_nothing_yet_is_not_to_be_trained_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "plan.json").write_text("{}")
    with trained_by_another(tmp_path):
        assert ended(command, tmp_path) == (2 if command == "resume" else 1)
    said = capsys.readouterr().err
    assert f" yet. {tmp_path} is in use: process 7 on here trains in it. Wait for it" in said


@pytest.mark.parametrize("read", ["read_manifest", "read"])
def test_a_checkpoint_that_the_run_removes_meanwhile_is_said_to_be_of_a_run_that_trains(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    newest, call = folder / "checkpoints" / "60.zip", getattr(saved_files, read)

    def removed_first(path: Path, *more: Any, **how: Any) -> Any:
        newest.unlink()
        return call(path, *more, **how)

    monkeypatch.setattr(saved_files, read, removed_first)
    with trained_by_another(folder):
        assert ended("resume", folder, "--timesteps", 90) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{newest} is gone. {folder} is in use: process 7 on here trains in it. Wait" in said
    assert "the one before it" not in said
