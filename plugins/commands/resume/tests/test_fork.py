"""`rlk resume RUN --out DIR`: a run that goes on in a folder of its own."""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import rlk
from rlk.registry.kernel import default_kernel
from rlk.saving import saved_files
from rlk_model_files.locate import checkpoints
from rlk_resume.fork import _best
from rlk_resume.found import folder_of
from rlk_testing.tools.command_line import ended
from rlk_testing.tools.forks import ForkServer
from rlk_testing.tools.states import same

PLUGINS = [
    *("--plugin", "checkpoint:every=60,keep=none"),
    *("--plugin", "evaluation:every=30,episodes=1"),
    *("--plugin", "prioritized-replay"),
    *("--plugin", "tensorboard"),
]


@pytest.fixture(scope="module")
def left(trained: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 120 timesteps with checkpoints at 60 and 120, and mapped files."""
    out = tmp_path_factory.mktemp("runs") / "run"
    mapped = ["--set", f"replay.mapped={out}.mapped"]
    logs = ["--log-interval", 1, "--timesteps", 120, "--out", out]
    assert trained(*PLUGINS, *mapped, *logs) == 0
    assert [path.stem for path in checkpoints(out, ".zip")] == ["60", "120"]
    return out


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def rows(file: Path) -> list[dict[str, Any]]:
    """A file of metrics or episodes, without what a clock says."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    clocks = ("t", "time/fps", "time/time_elapsed")
    return [{k: v for k, v in row.items() if k not in clocks} for row in csv.DictReader(lines)]


def state(path: Path) -> dict[str, Any]:
    found = saved_files.read(path, default_kernel())
    del found["manifest"]["plan"]  # which says where settings came from
    return found


def test_a_fork_ends_as_the_uninterrupted_run_which_stays_as_it_is(
    left: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, fork = files(left), tmp_path / "fork"
    mapped = ["--set", f"replay.mapped={fork}.mapped"]
    assert ended("resume", left / "checkpoints" / "60.zip", "--out", fork, *mapped) == 0
    printed = capsys.readouterr().out
    assert f"continues from {left}/checkpoints/60.zip at 60 timesteps" in printed
    assert f"into {fork}/" in printed and "not as before" not in printed
    assert files(left) == before and not list(fork.glob("plan-from-*"))
    assert [path.stem for path in checkpoints(fork, ".zip")] == ["60", "120"]
    one, other = (state(run / "checkpoints" / "120.zip") for run in (left, fork))
    assert same(one["storage"], other["storage"]) and len(one["storage"]) > 2
    assert same(one, other)
    for name in ("progress.csv", "monitor.csv"):
        assert rows(left / name) == rows(fork / name)
        assert len(rows(fork / name)) > 4
    histories = [dict(np.load(run / "evaluations.npz")) for run in (left, fork)]
    assert same(*histories)
    assert len(list(fork.glob("events.out.tfevents.*"))) == 2
    assert {"plan.json", "spec.toml", "model.zip", "best_model.zip"} <= files(fork).keys()


def test_a_fork_is_a_whole_run_before_its_first_own_checkpoint(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fork = folder.parent / "fork"
    changed = ["--set", f"replay.mapped={fork}.mapped", "--set", "gamma=0.5"]
    source = folder / "checkpoints" / "60.zip"
    failing = ["--timesteps", 70, "--plugin", "no:checkpoint", "--quiet"]
    assert ended("resume", source, "--out", fork, *changed, *failing) == 0
    assert not (fork / "model.zip").exists()
    settings = json.loads((fork / "plan.json").read_text())["components"][0]["settings"]
    assert settings["gamma"] == 0.5
    times = [float(row["time/total_timesteps"]) for row in rows(fork / "progress.csv")]
    assert min(times) < 60 and max(times) <= 70
    assert ended("evaluate", fork, "--episodes", 1) == 0
    assert ended("plot", fork) == 0
    with rlk.load(fork) as agent:
        assert agent.num_timesteps == 60
    again = ["--set", f"replay.mapped={fork}.mapped", "--quiet"]
    assert ended("resume", fork, "--timesteps", 80, *again) == 0
    assert [path.stem for path in checkpoints(fork, ".zip")] == ["60", "80"]


def test_the_run_of_a_checkpoint_is_found_through_links(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run" / "checkpoints" / "60.zip"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    outside, inside = tmp_path / "latest.zip", checkpoint.with_name("best.zip")
    outside.symlink_to(checkpoint)
    elsewhere = tmp_path / "kept.zip"
    elsewhere.touch()
    inside.symlink_to(elsewhere)
    found = [folder_of(path) for path in (checkpoint, outside, inside, elsewhere)]
    assert found == [tmp_path / "run"] * 3 + [None]


def test_a_best_model_of_the_checkpoint_itself_is_copied(folder: Path) -> None:
    best = folder / "best_model.zip"
    shutil.copyfile(folder / "checkpoints" / "60.zip", best)
    found = [list(_best(folder, timesteps, default_kernel())) for timesteps in (59, 60, 61)]
    assert found == [[], [best], [best]]


def test_the_best_model_of_every_evaluation_is_copied_and_no_damaged_one(folder: Path) -> None:
    names = ("best_model.zip", "best_model-2.zip", "best_model-10.zip", "best_model-of-mine.zip")
    for name in names:
        shutil.copyfile(folder / "checkpoints" / "60.zip", folder / name)
    found = {path.name for path in _best(folder, 60, default_kernel())}
    assert found == set(names[:3])
    (folder / "best_model.zip").write_bytes(b"PK\x03\x04 cut off")
    assert {path.name for path in _best(folder, 60, default_kernel())} == set(names[1:3])


def test_a_best_model_that_came_later_stays_behind(folder: Path) -> None:
    fork = folder.parent / "fork"
    shutil.copyfile(folder / "checkpoints" / "120.zip", folder / "best_model.zip")
    again = ["--set", "replay.mapped=none", "--plugin", "no:evaluation", "--quiet"]
    source = folder / "checkpoints" / "60.zip"
    assert ended("resume", source, "--out", fork, "--timesteps", 70, *again) == 0
    assert not (fork / "best_model.zip").exists()
    assert not (fork / "evaluations.npz").exists()


def test_a_checkpoint_that_was_saved_elsewhere_can_be_forked(tmp_path: Path) -> None:
    with rlk.make("a2c", env="CartPole-v1", total_timesteps=40) as agent:
        path = agent.learn(20).save_checkpoint(tmp_path / "mine" / "saved")
    (tmp_path / "progress.csv").write_text("of something else\n")
    episodes = ["--plugin", "monitor", "--set", f"monitor.filename={tmp_path}/mine"]
    assert ended("resume", path, "--out", tmp_path / "fork", *episodes, "--quiet") == 0
    assert [path.stem for path in checkpoints(tmp_path / "fork", ".zip")] == ["20", "40"]
    assert f"{tmp_path}/mine" in (tmp_path / "fork" / "plan.json").read_text()


def test_from_python_a_checkpoint_is_loaded_into_a_folder_of_its_own(
    left: Path, tmp_path: Path
) -> None:
    before, fork = files(left), tmp_path / "fork"
    mapped = {"replay.mapped": f"{fork}.mapped"}
    with rlk.load(left / "checkpoints" / "60.zip", out=str(fork), **mapped) as agent:
        agent.learn(60, reset_num_timesteps=False)
    parts = ("parameters", "optimise", "algorithm", "streams", "storage", "environments")
    one, other = (state(run / "checkpoints" / "120.zip") for run in (left, fork))
    assert all(same(one[part], other[part]) for part in parts)
    assert files(left) == before


@pytest.mark.parametrize("name", ["there", "run"])
def test_a_folder_that_is_not_empty_is_refused(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder.parent / name
    out.mkdir(exist_ok=True)
    (out / "notes").write_text("mine")
    before = files(out)
    again = ["--set", "replay.mapped=none", "--timesteps", 150]
    assert ended("resume", folder, "--out", out, *again) == 2
    assert f"--out {out} exists and is not empty. Name another" in capsys.readouterr().err
    assert files(out) == before


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("place", ["{left}.mapped", "{left}/own/mapped"])
def test_files_of_the_first_run_are_not_shared(
    tmp_path: Path, left: Path, place: str, is_linked: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    run, link, fork = left, tmp_path / "latest", tmp_path / "fork"
    if is_linked:
        link.symlink_to(run)
        run = link
    arguments = [run / "checkpoints" / "60.zip", "--out", fork]
    assert ended("resume", *arguments) == 2
    assert "Pass it again: --set replay.mapped=…" in capsys.readouterr().err
    assert ended("resume", *arguments, "--set", f"replay.mapped={place.format(left=left)}") == 2
    assert "belongs to the run that is forked, which stays as it is" in capsys.readouterr().err
    assert not fork.exists()


def test_a_fork_with_nothing_left_to_train_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fork = folder.parent / "fork"
    assert ended("resume", folder, "--out", fork, "--set", "replay.mapped=none") == 2
    assert "so nothing is left to train" in capsys.readouterr().err
    assert not fork.exists()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_fork_that_cannot_be_made_leaves_the_folder_as_it_was(
    folder: Path, is_there: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    fork = folder.parent / "fork"
    if is_there:
        fork.mkdir()
    wrong = ["--set", "policy.layers=[4]", "--set", "replay.mapped=none"]
    source = folder / "checkpoints" / "60.zip"
    assert ended("resume", source, "--out", fork, *wrong) == 1
    assert "shape" in capsys.readouterr().err
    assert fork.exists() == is_there
    assert not is_there or not list(fork.iterdir())


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (KeyboardInterrupt(), ""),
    ],
)
def test_a_fork_whose_files_are_not_all_copied_leaves_no_folder(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: BaseException,
    says: str,
) -> None:
    def failing(source: IO[bytes], copy: IO[bytes]) -> None:
        copy.write(source.read(10))
        raise failure

    monkeypatch.setattr(shutil, "copyfileobj", failing)
    fork = folder.parent / "fork"
    again = ["--set", "replay.mapped=none", "--timesteps", 150]
    assert ended("resume", folder, "--out", fork, *again) != 0
    assert says in capsys.readouterr().err
    assert not fork.exists()


KILLED = """
import os, shutil, signal, sys
from rlk_cli.main import main

def killed(source, copy):
    copy.write(source.read(10))
    copy.flush()
    os.kill(os.getpid(), signal.SIGKILL)

shutil.copyfileobj = killed
main(sys.argv[1:])
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_fork_that_is_killed_while_its_files_are_copied_has_not_begun_and_can_be_typed_again(
    folder: Path, rlk_forks: ForkServer
) -> None:
    fork = folder.parent / "fork"
    source = folder / "checkpoints" / "60.zip"
    again = ["--set", f"replay.mapped={fork}.mapped", "--timesteps", "70", "--quiet"]
    typed = ["resume", str(source), "--out", str(fork), *again]
    program = folder.parent / "killed.py"
    program.write_text(KILLED)
    with rlk_forks.start(program, *typed, cwd=folder.parent) as killed:
        assert killed.wait(timeout=120) == -signal.SIGKILL, killed.printed()
    assert any(path.name.endswith(".rlk-unfinished") for path in fork.rglob("*"))
    assert ended("resume", fork) == 1, "no run from random weights in place of the fork"
    assert ended(*typed) == 0
    assert [path.stem for path in checkpoints(fork, ".zip")] == ["60", "70"]
    assert not any(path.name.endswith(".rlk-unfinished") for path in fork.rglob("*"))


def test_two_forks_into_one_folder_do_not_mix(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fork, copy_of_one = folder.parent / "fork", shutil.copyfileobj
    again = ["--set", f"replay.mapped={fork}.mapped", "--timesteps", "70", "--quiet"]
    typed = ["resume", folder / "checkpoints" / "60.zip", "--out", fork, *again]

    def and_another(source: IO[bytes], copy: IO[bytes]) -> None:
        monkeypatch.setattr(shutil, "copyfileobj", copy_of_one)
        assert ended(*typed) == 2
        assert "is in use by another agent of this process" in capsys.readouterr().err
        copy_of_one(source, copy)

    monkeypatch.setattr(shutil, "copyfileobj", and_another)
    assert ended(*typed) == 0
    assert [path.stem for path in checkpoints(fork, ".zip")] == ["60", "70"]


@pytest.mark.parametrize("further", [[], ["--out", "fork"]])
def test_what_was_left_out_at_the_start_stays_out(
    trained: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    further: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert trained("--plugin", "no:monitor", "--timesteps", 30, "--out", "run") == 0
    assert ended("resume", "run", "--timesteps", 40, *further, "--quiet") == 0
    assert (tmp_path / (further or ["run"])[-1] / "progress.csv").exists()
    assert not list(tmp_path.rglob("monitor.csv"))


def test_an_explained_fork_makes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = folder.parent / "fork"
    again = ["--set", "replay.mapped=none", "--timesteps", 240, "--explain"]
    assert ended("resume", folder, "--out", fork, *again) == 0
    assert "storage       replay" in capsys.readouterr().out
    assert not fork.exists()
