"""Paths that the system cannot open: rlk says which one and why, and calls it no fault."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.errors import PlanError, RlkError
from rlk_baselines import A2C

Run = Callable[..., tuple[int, str]]
LONG = "a" * 300
RUN = ("run", "--algo", "a2c", "--timesteps", 10)


@pytest.fixture
def loop(downloads: Path) -> Path:
    """A link to itself: like a folder that may not be entered, it exists and cannot be opened."""
    path = downloads / "loop"
    path.symlink_to(path)
    return path


@pytest.mark.parametrize("name", ["evaluate", "enjoy", "resume", "plot"])
@pytest.mark.parametrize(("place", "why"), [(LONG, "File name too long"), ("loop/x", "levels of")])
def test_a_run_at_an_impossible_path_cannot_be_read(
    loop: Path, command: Run, name: str, place: str, why: str
) -> None:
    code, printed = command(name, place)
    assert code == 1 and printed.startswith(f"Error: cannot read {place}: ") and why in printed
    assert "fault of" not in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", LONG),
        (*RUN, "--out", LONG),
        (*RUN, "--env", f"./{LONG}.py:Env"),
        (*RUN, "--plugin", f"./{LONG}.py"),
    ],
)
def test_an_impossible_path_is_refused_while_planning(
    command: Run, arguments: tuple[Any, ...]
) -> None:
    code, printed = command(*arguments)
    assert code == 2 and "File name too long" in printed and "fault of" not in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--algo", "dqn", "--plugin", f"replay-start:run={LONG}"),
        ("run", "--algo", "gail", "--set", f"expert_path={LONG}.npz"),
        ("run", "--algo", "dqn", "--plugin", f"demonstrations:expert_path={LONG}.npz"),
    ],
)
def test_what_a_run_begins_with_may_be_at_no_impossible_path(
    command: Run, arguments: tuple[Any, ...]
) -> None:
    code, printed = command(*arguments, "--quiet", "--out", "there")
    assert code == 2 and "File name too long" in printed and "fault of" not in printed


@pytest.mark.parametrize("name", ["evaluate", "enjoy", "resume", "plot"])
def test_a_run_that_is_neither_file_nor_folder_is_said_to_be_neither(
    downloads: Path, command: Run, name: str
) -> None:
    os.mkfifo("pipe.zip")
    code, printed = command(name, "pipe.zip")
    assert code == 1 and "pipe.zip is neither a file nor a folder" in printed


def test_a_run_folder_cannot_be_where_something_else_is(downloads: Path, command: Run) -> None:
    os.mkfifo("pipe")
    Path("file").touch()
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind("socket")
        for name in ("pipe", "file", "socket"):
            assert command(*RUN, "--out", name) == (
                2,
                f"Error: --out {name} exists and is not a folder. Name another one.\n",
            )
            with pytest.raises(PlanError, match=f"out='{name}' exists and is not a folder"):
                rlk.make("a2c", env="CartPole-v1", out=name)


@pytest.mark.parametrize("name", ["a\0b", LONG, "\ud800"])
def test_a_program_is_told_of_a_path_that_no_file_can_have(downloads: Path, name: str) -> None:
    with pytest.raises(PlanError, match="cannot be made"):
        rlk.make("a2c", env="CartPole-v1", out=name)
    with pytest.raises(RlkError, match="cannot read"):
        rlk.load(name)


def test_a_film_that_cannot_be_written_is_refused_before_anything_is_played(
    downloads: Path, command: Run
) -> None:
    assert command(*RUN, "--out", "there", "--quiet") == (0, "")
    for place, why in ((f"{LONG}.gif", "too long"), ("there/pipe.gif", "not a regular file")):
        Path("there/pipe.gif").exists() or os.mkfifo("there/pipe.gif")
        code, printed = command("enjoy", "there", "--record", place)
        assert code == 1 and why in printed and "return" not in printed


@pytest.mark.parametrize("name", ["a\0b", LONG])
def test_a_model_of_stable_baselines_at_an_impossible_path_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        A2C.load(name)
