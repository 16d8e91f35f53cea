"""`rlk resume` of a run that was killed before it saved a checkpoint: it begins from its start."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rlk
from rlk.running.folder_owner import OWNER
from rlk_testing.command_line import ended

PLUGINS = ["--plugin", "tensorboard", "--plugin", "evaluation:every=20,episodes=1"]


@pytest.fixture(scope="module")
def whole(trained: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 60 timesteps that was never interrupted."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert trained(*PLUGINS, "--log-interval", 1, "--timesteps", 60, "--out", out) == 0
    return out


@pytest.fixture
def killed(whole: Path, tmp_path: Path) -> Path:
    """The same run, killed before its first checkpoint."""
    out = Path(shutil.copytree(whole, tmp_path / "run"))
    shutil.rmtree(out / "checkpoints")
    (out / "model.zip").unlink()
    (out / OWNER).write_text("process 7 on here")
    (out / "notes.csv").write_text("of the user")
    return out


def are_equal(one: Path, other: Path) -> bool:
    """Whether two runs have ended with the same parameters."""
    with rlk.load(one) as first, rlk.load(other) as second:
        found, expected = first.get_parameters(), second.get_parameters()
    return all(np.array_equal(found[name], expected[name]) for name in expected)


def rows(folder: Path) -> list[str]:
    """The episodes of a run, without their times."""
    lines = (folder / "monitor.csv").read_text().splitlines()[2:]
    return [line.rpartition(",")[0] for line in lines]


def test_a_run_that_saved_nothing_ends_as_the_one_that_was_never_killed(
    killed: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = (killed / "plan.json").read_text()
    assert ended("resume", killed) == 0
    first = capsys.readouterr().out.splitlines()[0]
    why = f"because {killed} holds no checkpoint"
    assert first == f"dqn on CartPole-v1 begins from its start, {why}"
    assert are_equal(killed, whole)
    assert rows(killed) == rows(whole) != []
    for name in ("progress.csv", "evaluations.npz"):
        assert (killed / name).stat().st_size == pytest.approx(
            (whole / name).stat().st_size, rel=0.2
        ), "not twice as many rows"
    assert len(list(killed.glob("events.out.tfevents.*"))) == 1
    assert (killed / "notes.csv").read_text() == "of the user"
    assert (killed / "plan.json").read_text() == plan
    best = (whole / "best_model.zip").read_bytes()
    assert (killed / "earlier_best_model.zip").read_bytes() == best


def test_what_is_to_be_another_than_planned_is_said_and_in_the_plan(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", killed, "--set", "gamma=0.5", "--timesteps", 40) == 0
    assert "\n  changed: gamma 0.99 to 0.5\n" in capsys.readouterr().out
    plan = json.loads((killed / "plan.json").read_text())
    assert plan["components"][0]["settings"]["gamma"] == 0.5
    assert plan["run"]["total_timesteps"] == 40
    assert "gamma = 0.5\n" in (killed / "spec.toml").read_text()
    assert ended("resume", killed, "--quiet") == 0, "it has ended"


def test_another_seed_is_that_of_a_new_run(
    killed: Path, trained: Callable[..., int], tmp_path: Path
) -> None:
    new = tmp_path / "new"
    assert trained(*PLUGINS, "--seed", 8, "--timesteps", 60, "--out", new) == 0
    assert ended("resume", killed, "--seed", 8, "--quiet") == 0
    assert are_equal(killed, new)
    assert json.loads((killed / "plan.json").read_text())["run"]["seed"] == 8


def test_a_spec_that_was_not_written_any_more_is_written(killed: Path, whole: Path) -> None:
    (killed / "spec.toml").unlink()
    assert ended("resume", killed, "--quiet") == 0
    assert (killed / "spec.toml").read_text() == (whole / "spec.toml").read_text()


def test_what_is_for_new_runs_takes_place(
    trained: Callable[..., int], whole: Path, tmp_path: Path
) -> None:
    out, model = tmp_path / "run", whole / "model.zip"
    start = ["--plugin", f"model-start:path={model}"]
    assert trained(*start, "--timesteps", 10, "--out", out) == 0  # it learns from 20 timesteps on
    shutil.rmtree(out / "checkpoints")
    (out / "model.zip").unlink()
    assert ended("resume", out, "--quiet") == 0
    assert are_equal(out, whole)


def test_a_fork_of_nothing_is_refused(
    killed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(killed.iterdir())
    assert ended("resume", killed, "--out", tmp_path / "fork") == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "holds no checkpoint to begin a fork with. To train it from its start: rlk" in said
    assert ended("resume", killed, "--explain") == 0
    assert sorted(killed.iterdir()) == before and not (tmp_path / "fork").exists()


def test_a_plan_that_is_damaged_is_named(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(killed.iterdir())
    (killed / "plan.json").write_text('{"env": 3}')
    assert ended("resume", killed) == 1
    assert f"{killed}/plan.json is damaged: the plan" in capsys.readouterr().err
    assert sorted(killed.iterdir()) == before
