"""Fixtures for tests of the command line: `rlk` in this process, in a folder of its own."""

import attrs
import pytest

from rlk_cli.main import main


@attrs.frozen
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def rlk(tmp_path, monkeypatch, capsys):
    """A function that runs a command line and returns how it ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ended(ended.value.code, printed.out, printed.err)

    return command


@pytest.fixture
def small():
    """Arguments of a short run."""
    settings = ["--set", "n_steps=8", "--set", "nminibatches=1", "--set", "n_threads=1"]
    return ["run", "--algo", "ppo2", "--preset", "none", "--timesteps", 16, *settings]
