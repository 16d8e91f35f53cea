"""A folder in which foreign files are opened, and the commands that a user types there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from faults.mutations import EVIL
from faults.typed import MAZE, SMALL

import rlk
from rlk_testing.tools.command_line import ended

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a module that leaves a trace if it is imported."""
    (tmp_path / f"{EVIL}.py").write_text("open('it ran', 'w')\nclass Evil: pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def command(downloads: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command line; returns its exit code, and its errors."""

    def run(*arguments: Any) -> tuple[int, str]:
        return ended(*arguments), capsys.readouterr().err

    return run


@pytest.fixture
def rlk_typed(rlk_typed):
    """A function that runs a command line in a folder with `maze_of_mine.py`."""
    Path("maze_of_mine.py").write_text(MAZE)
    yield rlk_typed
    gym.registry.pop("RlkMaze-v0", None)
    sys.modules.pop("maze_of_mine", None)


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A function that trains briefly from Python, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def train(**given):
        with rlk.make("ppo2", **{"env": "CartPole-v1", **SMALL, **given}) as agent:
            return agent.learn()

    return train
