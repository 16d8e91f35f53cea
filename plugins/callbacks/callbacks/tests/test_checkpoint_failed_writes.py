"""What a run prints, keeps and raises where a checkpoint or a model cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.agent import Agent
from rlk.errors import EnvironmentFailed, RlkError
from rlk_model_files.locate import checkpoints
from rlk_model_files.serializer import FileSerializer
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
MATCH = "rlk_testing.environments:DiscreteMatch"
KERNEL = stand_in_kernel(discover=True)


def made(out: Path, *plugins: str, **settings: Any) -> Agent:
    """A small agent whose iterations are 4 timesteps; of the loggers, none writes."""
    quiet = ("no:table", "no:monitor", "no:csv")
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    return rlk.make("stand-in", kernel=KERNEL, plugins=[*quiet, *plugins], out=str(out), **keywords)


def full_disk(allowed: int) -> Any:
    """A `FileSerializer.write` that fails after so many files."""
    write, count = FileSerializer.write, iter(range(1000))

    def fails(self: FileSerializer, path: Path, state: Any) -> None:
        if next(count) >= allowed:
            raise OSError(28, "No space left on device")
        write(self, path, state)

    return fails


def test_a_write_that_fails_is_said_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FileSerializer, "write", full_disk(2))
    with (
        made(tmp_path, "checkpoint:every=10,keep=1") as agent,
        pytest.raises(RlkError, match=r"checkpoint, 4 times: .*No space.*\n.*model.zip, 1 time"),
    ):
        agent.learn(40)
    assert agent.num_timesteps == 40
    assert [path.stem for path in checkpoints(tmp_path, ".zip")] == ["12"]
    printed = capsys.readouterr().err
    assert printed.count("a write failed (checkpoint)") == 1 == printed.count("(model.zip)")


def test_a_checkpoint_that_fails_after_others_were_written_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write, count = FileSerializer.write, iter(range(1000))

    def every_second_fails(self: FileSerializer, path: Path, state: Any) -> None:
        if next(count) % 2 == 1:
            raise OSError(28, "No space left on device")
        write(self, path, state)

    monkeypatch.setattr(FileSerializer, "write", every_second_fails)
    with (
        made(tmp_path, "checkpoint:every=4") as agent,
        pytest.raises(RlkError, match="checkpoint, 3 times"),
    ):
        agent.learn(12)
    assert capsys.readouterr().err.count("a write failed (checkpoint)") == 2


def test_a_failed_run_is_not_hidden_by_a_write_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FileSerializer, "write", full_disk(0))
    spoilt = {"env": MATCH, "env.spoil": "error", "env.spoil_at": 10}
    with (
        made(tmp_path, **spoilt) as agent,
        pytest.raises((EnvironmentFailed, RuntimeError), match="told to fail"),
    ):
        agent.learn(40)
    assert "a write failed (model.zip)" in capsys.readouterr().err
