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


@pytest.mark.parametrize("backend", ["dummy", "subprocess"])
def test_what_was_trained_is_kept_and_the_environment_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    backend: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("opens.py").write_text(CLOSES_NOT)
    with pytest.raises(SystemExit):
        main(["run", "--algo", "a2c", "--env", "./opens.py:Opens", "--vec-env", backend, *SMALL])
    said = capfd.readouterr().err
    assert "environment 0 failed in close: AttributeError: viewer" in said
    assert "fault of" not in said
    assert Path("there/model.zip").exists()
