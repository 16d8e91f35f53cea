"""An environment that calls `sys.exit`: the run names it, and keeps its work."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk_testing.tools.command_line import ended

LEAVES = """
import sys
from rlk_testing.environments import DiscreteMatch

class Leaves(DiscreteMatch):
    taken = 0

    def step(self, action):
        self.taken += 1
        if self.taken > 20:
            sys.exit(CODE)
        return super().step(action)
"""
SMALL = ("--timesteps", "64", "--set", "n_steps=8", "--n-envs", "2", "--quiet", "--out", "there")


@pytest.mark.parametrize(("left_with", "code"), [("0", 1), ("'window closed'", 1), ("5", 5)])
def test_the_environment_is_named_and_a_checkpoint_is_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    left_with: str,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leaves.py").write_text(LEAVES.replace("CODE", left_with))
    assert ended("run", "--algo", "a2c", "--env", "./leaves.py:Leaves", *SMALL) == code
    said = capfd.readouterr().err
    assert f"sys.exit({left_with}) was called while environment 0 was in step" in said
    assert list(Path("there/checkpoints").glob("*.zip"))
