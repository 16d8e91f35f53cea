"""Environments that cannot be closed: errors name them, and the training is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk_cli.main import main

CLOSES_NOT = """
from rlk_testing.environments import DiscreteMatch

class Opens(DiscreteMatch):
    opened = False

    def step(self, action):
        self.opened = True
        return super().step(action)

    def close(self):
        if self.opened:
            raise AttributeError("viewer")
"""
SMALL = ("--timesteps", "32", "--set", "n_steps=8", "--n-envs", "2", "--quiet", "--out", "there")


# A worker prints what its environments raise when they are closed, as its own end is no error.
@pytest.mark.parametrize(("backend", "code"), [("dummy", 1), ("subprocess", 0)])
def test_what_was_trained_is_kept_and_the_environment_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    backend: str,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("opens.py").write_text(CLOSES_NOT)
    with pytest.raises(SystemExit) as end:
        main(["run", "--algo", "a2c", "--env", "./opens.py:Opens", "--vec-env", backend, *SMALL])
    assert end.value.code == code
    said = capfd.readouterr().err
    assert "environment 0 failed in close: AttributeError: viewer" in said
    assert "fault of" not in said
    assert Path("there/model.zip").exists()
