"""What is refused before training is refused without torch, whose import takes a second or more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: Runs command lines, of which a list comes from stdin; prints for each its exit code, what it
#: printed on stderr, and whether torch or Optuna was imported.
PROGRAM = """
import contextlib, io, json, sys
from rlk_cli.main import main

for arguments in json.load(sys.stdin):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
    heavy = [name for name in ("torch", "optuna") if name in sys.modules]
    print(json.dumps([code, printed.getvalue(), heavy]))
"""
TUNE = ["tune", "--algo", "dqn", "--timesteps", "100"]
REFUSED = [
    (["run", "--algo", "dqn", "--out", "full"], 2, "--out full exists and is not empty"),
    (["run", "--algo", "dqn", "--out", "full", "--explain"], 2, "exists and is not empty"),
    (["run", "--algo", "dqn", "--out", "-x"], 2, "continue the run in it: rlk resume ./-x"),
    ([*TUNE, "--search", "foo=1:2"], 2, "unknown setting"),
    ([*TUNE, "--search", "gamma=0.9,0.99", "--out", "full"], 2, "there is no search in it"),
    (["import", "nothere.zip", "--out", "y.zip"], 1, "nothere.zip is not a file"),
    (["export", "one", "--out", "policy.foo"], 1, "'FILE.onnx' or 'FILE.pt2', and not '.foo'"),
    (["resume", "one", "--timesteps", "16"], 0, "the run ended at 16 timesteps"),
    (["resume", "one", "--timesteps", "32", "--out", "full"], 2, "exists and is not empty"),
    (["resume", "one", "--timesteps", "32", "--out", "full", "--explain"], 2, "is not empty"),
    (["resume", "one", "--timesteps", "16", "--out", "other"], 2, "nothing is left to train"),
]


@pytest.fixture
def folders(rlk, small):
    """A finished run in `one`, and two folders that are not empty."""
    assert rlk(*small, "--quiet", "--out", "one").code == 0
    for name in ("full", "-x"):
        Path(name).mkdir()
        Path(name, "file").touch()


def test_refusals_do_not_wait_for_torch(folders):
    typed = [arguments for arguments, _, _ in REFUSED]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(typed),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for (arguments, code, says), (ended, printed, heavy) in zip(REFUSED, found, strict=True):
        assert (ended, heavy) == (code, []), (arguments, printed)
        assert says in printed, (arguments, printed)
