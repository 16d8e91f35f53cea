"""`rlk resume` of a run that was killed before it saved a checkpoint: it begins from its start."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rlk
from rlk.one_process import OneProcess
from rlk.running.folder_owner import OWNER, in_use
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
    drop_the_last_row(out)
    return out


def drop_the_last_row(folder: Path) -> None:
    """Drop the row of metrics of the last timestep, which a killed run did not reach."""
    rows = (folder / "progress.csv").read_text().splitlines(keepends=True)
    (folder / "progress.csv").write_text("".join(rows[:-1]))


def files(folder: Path) -> dict[str, bytes]:
    """What a folder holds, by path."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


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
    before = files(killed)
    assert ended("resume", killed) == 0
    said = capsys.readouterr().out.splitlines()[:2]
    why = f"because {killed} holds no checkpoint"
    assert said[0] == f"dqn on CartPole-v1 begins from its start, {why}"
    assert said[1] == f"  what was written before is in {killed}/earlier-1"
    assert are_equal(killed, whole)
    assert rows(killed) == rows(whole) != []
    for name in ("progress.csv", "evaluations.npz"):
        assert (killed / name).stat().st_size == pytest.approx(
            (whole / name).stat().st_size, rel=0.2
        ), "not twice as many rows"
    assert len(list(killed.glob("events.out.tfevents.*"))) == 1
    assert (killed / "notes.csv").read_text() == "of the user"
    assert (killed / "plan.json").read_bytes() == before["plan.json"]
    earlier = files(killed / "earlier-1")
    assert earlier == {name: before[name] for name in earlier}
    assert {"progress.csv", "monitor.csv", "evaluations.npz", "best_model.zip"} < earlier.keys()


def test_nothing_of_a_run_that_is_killed_several_times_is_lost(killed: Path, whole: Path) -> None:
    first = files(killed)
    assert ended("resume", killed, "--seed", 8, "--quiet") == 0
    shutil.rmtree(killed / "checkpoints")
    (killed / "model.zip").unlink()
    drop_the_last_row(killed)
    second = files(killed)
    assert second["best_model.zip"] != first["best_model.zip"]
    assert ended("resume", killed, "--seed", 3, "--quiet") == 0
    assert are_equal(killed, whole)
    for number, before in enumerate((first, second), start=1):
        for name in ("progress.csv", "evaluations.npz", "best_model.zip"):
            assert (killed / f"earlier-{number}" / name).read_bytes() == before[name]


FAILS = """
from rlk.hookspecs import hookimpl

class Fails:
    @hookimpl
    def rlk_make_collector(self, run):
        raise OSError("the licence server is down")
"""


def test_a_run_that_cannot_begin_leaves_the_folder_as_it_was(
    killed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (killed / OWNER).unlink()
    (tmp_path / "fails.py").write_text(FAILS)
    before = files(killed)
    changed = ["--set", "gamma=0.5", "--plugin", f"{tmp_path}/fails.py:Fails"]
    assert ended("resume", killed, *changed) == 1
    assert "the licence server is down" in capsys.readouterr().err
    assert files(killed) == before and not list(killed.glob("earlier*"))


def test_ranks_that_do_not_begin_together_leave_the_folder_as_it_was(
    killed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (killed / OWNER).unlink()
    before = files(killed)
    monkeypatch.setattr(OneProcess, "gather", staticmethod(lambda timesteps: [timesteps, 30]))
    assert ended("resume", killed) == 2
    assert "checkpoints of different timesteps (0, 30)" in capsys.readouterr().err
    assert files(killed) == before and in_use(killed) is None


def test_a_run_that_trained_to_its_end_and_saved_nothing_is_not_trained_again(
    killed: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copyfile(whole / "progress.csv", killed / "progress.csv")
    before = files(killed)
    for further in ([], ["--timesteps", 90]):
        assert ended("resume", killed, *further) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "progress.csv has its last timestep, 60: it trained to its end. To train" in said
        assert f"in a new folder: rlk run {killed}/spec.toml --out DIR" in said
    assert files(killed) == before


def test_a_run_that_saves_no_checkpoints_is_not_trained_again(
    trained: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert trained("--plugin", "no:checkpoint", "--timesteps", 20, "--out", out) == 0
    before = files(out)
    assert ended("resume", out) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "its plan has no callback 'checkpoint', which saves both. To train it again" in said
    typed = said.partition("in a new folder: rlk ")[2].replace("DIR", f"{tmp_path}/new")
    assert typed.endswith("--plugin checkpoint")
    assert files(out) == before
    assert ended(*typed.split(), "--quiet") == 0
    assert (tmp_path / "new" / "model.zip").exists()


def test_a_run_that_continued_another_does_not_begin_without_its_state(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "loaded"
    with rlk.load(whole, out=str(out), plugins=["checkpoint"]) as agent:
        agent.learn(20, reset_num_timesteps=False)
    shutil.rmtree(out / "checkpoints")
    (out / "model.zip").unlink()
    before = files(out)
    assert ended("resume", out) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "is not of a run that rlk run began: it belongs to a program, or continued" in said
    assert files(out) == before


@pytest.mark.parametrize("damage", [b"time/total_timesteps\n20\n\0\0\n", b"\xff\xfe"])
def test_rows_that_are_damaged_are_not_taken_for_those_of_a_killed_run(
    killed: Path, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    (killed / "progress.csv").write_bytes(damage)
    before = files(killed)
    assert ended("resume", killed) == 1
    assert "progress.csv is damaged" in " ".join(capsys.readouterr().err.split())
    assert files(killed) == before


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
    (out / "progress.csv").unlink()
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


def test_who_looks_for_its_model_is_told_how_it_begins_again(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("evaluate", killed) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"If it was killed before, this begins it again: rlk resume {killed}" in said


def test_a_plan_that_is_damaged_is_named(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(killed.iterdir())
    (killed / "plan.json").write_text('{"env": 3}')
    assert ended("resume", killed) == 1
    assert f"{killed}/plan.json is damaged: the plan" in capsys.readouterr().err
    assert sorted(killed.iterdir()) == before
