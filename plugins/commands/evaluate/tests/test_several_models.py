"""`rlk evaluate` of several models: a line for each, and those that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk_testing.tools.command_line import ended

WALK = "rlk_testing.environments:Walk"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short runs, and one that was killed before it had a model."""
    folder = tmp_path_factory.mktemp("runs")
    settings: dict[str, Any] = {"n_steps": 8, "nminibatches": 1, "n_threads": 1}
    for seed in (1, 2):
        out = str(folder / f"run{seed}")
        with rlk.make(
            "ppo2", env=WALK, out=out, plugins=["no:table"], seed=seed, **settings
        ) as run:
            run.learn(16)
    (folder / "killed").mkdir()
    (folder / "killed" / "plan.json").write_text("{}")
    return folder


def evaluated(*arguments: object) -> int:
    return ended("evaluate", *arguments, "--env", WALK, "--episodes", 2)


def test_each_of_several_has_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [folder / "run1", folder / "run2"]
    assert evaluated(*runs) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == [str(run / "model.zip") for run in runs]
    assert all(line.split()[1] == "+/-" for line in lines)


def test_programs_get_an_object_on_each_line_as_they_get_one_for_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [folder / "run1", folder / "run2"]
    assert evaluated(*runs, "--json") == 0
    together = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for run in runs:
        evaluated(run, "--json")
    apart = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert together == apart
    assert [one["seed"] for one in together] == [1, 2]  # each has that of its run


def test_of_several_those_that_cannot_be_played_are_left_out_with_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated(folder / "killed", folder / "run2", folder / "nowhere") == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1 and "run2" in said.out
    notes = [line for line in said.err.splitlines() if line.startswith("note: not played: ")]
    assert len(notes) == 2 and "killed" in notes[0] and "nowhere does not exist" in notes[1]
    assert ended("evaluate", folder / "run1", folder / "run2") == 2  # without their environment
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("note: not played: ") == 2
