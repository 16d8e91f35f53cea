"""Fixtures for tests of the command line: `rlk` in this process, in a folder of its own."""

import pytest


@pytest.fixture
def rlk(rlk_typed, tmp_path, monkeypatch):
    """A function that runs a command line and returns how it ended."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return rlk_typed


@pytest.fixture
def small():
    """Arguments of a short run."""
    settings = ["--set", "n_steps=8", "--set", "nminibatches=1", "--set", "n_threads=1"]
    return ["run", "--algo", "ppo2", "--preset", "none", "--timesteps", 16, *settings]
