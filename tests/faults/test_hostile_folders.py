"""Forged run folders: one test for every fault that was found."""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults.watch import watching

from rlk import documents
from rlk_plot.curves import rolling_mean

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(downloads: Path) -> Path:
    path = downloads / "a run"
    path.mkdir()
    header = '#{"t_start": 1.0, "env_id": "CartPole-v1"}\nr,l,t\n'
    (path / "monitor.csv").write_text(header + "1.0,10,0.5\n2.0,20,1.5\n")
    return path


def npz(path: Path, **arrays: Any) -> bytes:
    np.savez(path, **arrays)
    return path.read_bytes()


def test_a_curve_may_be_smoothed_over_any_number_of_episodes() -> None:
    assert rolling_mean(np.array([1.0, 3.0]), 99_999_999_999_999_999_999).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", b"[" * 100_000),
        ("plan.json", b"[" + b"[]," * 2_000_000),
        ("plan.json", b'{"run": 5, "env": [], "components": "abc"}'),
        ("plan.json", b"\xff\xfe"),
        ("monitor.csv", b'#{"t_start": ' + b"[" * 3000 + b"\nr,l,t\n1,2,3\n"),
        ("monitor.csv", b'#{"t_start": 1' + b"0" * 400 + b"}\nr,l,t\n1,2,3\n"),
        ("monitor.csv", b'#{"t_start": 1}\nr,l,t\nabc,2,3\n'),
        ("monitor.csv", b'#{"t_start": 1}\nr,l,t\n1,nan,3\n'),
        ("monitor.csv", b'#{"t_start": 1}\nr,l,t\n1,-2,3\n'),
        ("monitor.csv", b'#{"t_start": 1}\nr,l,t\n"' + b"1" * 200_000 + b'",2,3\n'),
        ("evaluations.npz", b"PK\x05\x06" + bytes(18)),
        ("evaluations.npz", b"\x80\x04x."),
    ],
)
def test_damaged_files_of_a_run_folder_are_named(
    folder: Path, command: Run, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    code, printed = command("plot", folder)
    assert code == 1 and name in printed and "fault of rlk" not in printed


def test_a_damaged_progress_file_is_named(folder: Path, command: Run) -> None:
    (folder / "monitor.csv").unlink()
    tags = "rollout/ep_rew_mean,time/total_timesteps,time/episodes,time/time_elapsed"
    (folder / "progress.csv").write_text(f"{tags}\nabc,1,2,3\n")
    code, printed = command("plot", folder)
    assert code == 1 and "progress.csv is damaged" in printed


@pytest.mark.parametrize(
    "arrays",
    [
        {"timesteps": np.array([object()], dtype=object), "results": np.zeros((1, 1))},
        {"timesteps": np.array(["a"]), "results": np.zeros((1, 1))},
        {"timesteps": np.arange(3), "results": np.zeros((2, 1))},
        {"timesteps": np.arange(3), "results": np.zeros(3)},
        {"timesteps": np.arange(3)},
    ],
)
def test_evaluations_that_are_none_are_refused(
    folder: Path, command: Run, arrays: dict[str, Any]
) -> None:
    npz(folder / "evaluations.npz", **arrays)
    with watching() as watched:
        code, printed = command("plot", folder)
    assert code == 1 and "evaluations.npz is damaged" in printed
    assert not [event for event in watched.events if event.startswith("pickle")]


def test_evaluations_that_would_unpack_to_gigabytes_are_refused(
    folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_NPZ_BYTES", 1 << 20)
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("timesteps.npy", "w") as member,
    ):
        member.write(bytes(2 << 20))
    (folder / "evaluations.npz").write_bytes(out.getvalue())
    code, printed = command("plot", folder)
    assert code == 1 and "would unpack to 2,097,152 bytes" in printed


# ---- what a run folder says of a run -------------------------------------------------------------

SMALL = ("run", "--algo", "ppo2", "--preset", "none", "--timesteps", 16, "--set", "n_steps=8")
QUIET = ("--set", "nminibatches=1", "--set", "n_threads=1", "--quiet")


def test_a_plugin_from_a_file_that_is_passed_again_is_taken(downloads: Path, command: Run) -> None:
    (downloads / "mine.py").write_text(
        "from rlk.hookspecs import hookimpl\n"
        "@hookimpl\ndef rlk_training_start(run): open('called', 'a').write('x')\n"
        "class Other:\n    component = None\n"
    )
    assert command(*SMALL, *QUIET, "--plugin", "./mine.py", "--out", "there") == (0, "")
    code, printed = command("resume", "there", "--timesteps", 32, "--quiet")
    assert code == 2 and "Pass it again: --plugin ./mine.py" in printed
    again = ("--timesteps", 32, "--quiet", "--plugin", "./mine.py")
    assert command("resume", "there", *again) == (0, "")
    assert (downloads / "called").read_text() == "xx"


def test_the_spec_of_a_run_asks_for_what_was_asked_for(downloads: Path, command: Run) -> None:
    assert command(*SMALL, *QUIET, "--plugin", "no:monitor", "--out", "there") == (0, "")
    spec = tomllib.loads((downloads / "there" / "spec.toml").read_text())
    assert spec["plugins"] == ["no:monitor"]
    assert command("run", "there/spec.toml", "--quiet", "--out", "again") == (0, "")
    plans = [json.loads((downloads / run / "plan.json").read_text()) for run in ("there", "again")]
    names = [[one["name"] for one in plan["components"]] for plan in plans]
    assert names[0] == names[1] and "monitor" not in names[0]


def test_a_name_that_is_too_long_for_a_folder_is_reported(command: Run) -> None:
    code, printed = command("run", "--algo", "a2c", "--out", "a" * 300)
    assert code == 2 and "cannot be made: File name too long" in printed
    assert "fault of rlk" not in printed
