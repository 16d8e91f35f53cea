"""`rlk resume` of a run that still trains, or was killed a moment ago."""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk
from rlk.one_process import OneProcess
from rlk.running.folder_owner import OWNER, OwnedFolder, in_use
from rlk.saving import saved_files
from rlk_resume import command
from rlk_testing.tools.command_line import ended


@pytest.fixture(scope="module")
def left(trained: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 60 timesteps, with checkpoints at 30 and 60."""
    out = tmp_path_factory.mktemp("runs") / "run"
    assert trained("--plugin", "checkpoint:every=30", "--timesteps", 60, "--out", out) == 0
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


@pytest.mark.parametrize(("read", "fork"), [("read_manifest", False), ("read", True)])
def test_a_checkpoint_that_the_run_removes_meanwhile_is_said_to_be_of_a_run_that_trains(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    read: str,
    fork: bool,
) -> None:
    newest, call = folder / "checkpoints" / "60.zip", getattr(saved_files, read)

    def removed_first(path: Path, *more: Any, **how: Any) -> Any:
        newest.unlink()
        return call(path, *more, **how)

    monkeypatch.setattr(saved_files, read, removed_first)
    with trained_by_another(folder):
        out = ["--out", folder.with_name("fork")] if fork else []
        assert ended("resume", folder, "--timesteps", 90, *out) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{newest} is gone. {folder} is in use: process 7 on here trains in it. Wait" in said
    assert "the one before it" not in said


@pytest.fixture
def saved_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The last checkpoint of the run before, saved while `rlk resume` imports what it needs."""
    newest, aside = folder / "checkpoints" / "60.zip", folder / "60.zip"
    newest.rename(aside)
    take_over = command.take_over

    def slowly(plan: Any) -> int | None:
        with trained_by_another(folder):
            aside.rename(newest)
        return take_over(plan)

    monkeypatch.setattr(command, "take_over", slowly)
    return newest


def test_a_run_continues_from_the_checkpoint_that_the_process_before_has_saved_at_its_end(
    folder: Path, saved_meanwhile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", folder, "--timesteps", 90) == 0
    printed = capsys.readouterr().out
    assert f"continues from {saved_meanwhile} at 60 timesteps" in printed
    assert "replaces" not in printed
    assert sorted(path.stem for path in saved_meanwhile.parent.iterdir()) == ["30", "60", "90"]


def test_a_run_that_the_process_before_has_trained_to_its_end_is_not_trained_again(
    folder: Path, saved_meanwhile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = (folder / "model.zip").read_bytes()
    assert ended("resume", folder) == 0
    assert "the run ended at 60 timesteps" in capsys.readouterr().out
    assert saved_meanwhile.exists() and (folder / "model.zip").read_bytes() == model
    assert not (folder / OWNER).exists() and in_use(folder) is None


def test_ranks_that_found_different_checkpoints_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneProcess, "gather", staticmethod(lambda timesteps: [timesteps, 30]))
    assert ended("resume", folder, "--timesteps", 90) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "the ranks found checkpoints of different timesteps (60, 30)" in said
    assert in_use(folder) is None


def metrics(run: Path) -> list[dict[str, str]]:
    """The rows of a run, without times."""
    with (run / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{k: row[k] for k in row.keys() - {"time/fps", "time/time_elapsed"}} for row in rows]


def test_a_run_that_was_killed_before_its_model_was_written_writes_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, rows = rlk.load(folder).get_parameters(), metrics(folder)
    for older in (False, True):
        (folder / "model.zip").unlink()
        if older:  # a model of an earlier part, as after a signal
            shutil.copy(folder / "checkpoints" / "30.zip", folder / "model.zip")
        assert ended("resume", folder) == 0
        assert "done: 0 timesteps" in capsys.readouterr().out
        written = rlk.load(folder / "model.zip").get_parameters()
        assert all(np.array_equal(written[name], expected[name]) for name in expected)
        assert metrics(folder) == rows != []
    assert ended("resume", folder) == 0
    assert "the run ended at 60 timesteps" in capsys.readouterr().out
