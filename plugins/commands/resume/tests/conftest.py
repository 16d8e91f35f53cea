"""What the tests of `rlk resume` begin with: a short run, and a copy of what it left."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rlk_testing.tools.command_line import ended

SETTINGS = ["--set", "learning_starts=20", "--set", "n_threads=1", "--set", "policy.layers=[8]"]
RUN = ["run", "--algo", "dqn", "--preset", "none", "--seed", 3, *SETTINGS, "--quiet"]


@pytest.fixture(scope="session")
def trained() -> Callable[..., int]:
    """A function that types a short run with further arguments: its exit code."""
    return lambda *further: ended(*RUN, *further)


@pytest.fixture
def folder(left: Path, tmp_path: Path) -> Path:
    """A copy of the run folder `left`, which every module has of its own."""
    return Path(shutil.copytree(left, tmp_path / "run"))
