"""The script of docs/jobs.md is killed at one moment after the other, and typed again.

Importing torch would take most of the time. So the program `rlk` of the script asks this process,
which runs the command in a fork; `rlk` gives signals on to the fork, and ends as it does.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rlk
from rlk.running.folder_owner import OWNER
from rlk_testing.tools.forks import ForkServer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="a script for bash"
)

#: `rlk` in the script.
RLK = """
import json, os, signal, socket, sys

connection = socket.socket(socket.AF_UNIX)
connection.connect("asked")
with connection.makefile("rw") as asked:
    print(json.dumps(sys.argv[1:]), file=asked, flush=True)
    pid = int(asked.readline())
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    code, printed = json.loads(asked.readline())
print(printed, end="", flush=True)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
#: The fork: it dies, or lets the script get a signal, where the file `moment` says.
FORK = """
import os, signal
from pathlib import Path
import rlk_cli.folder
import rlk_cli.main
import rlk.files
from rlk.running.folder_owner import OwnedFolder
from rlk_callbacks.checkpoint import Checkpoints
from rlk_loggers.csv_file import ProgressFile

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def after(owner, name, act):
    before = getattr(owner, name)
    def both(*given, **more):
        before(*given, **more)
        act(*given)
    setattr(owner, name, both)

os.environ["SLURM_JOB_ID"] = "7"
moment, script = Path("moment").read_text(), int(Path("pid").read_text())
replace = rlk.files._replace
if moment == "before its folder is made":
    rlk_cli.folder.choose = die
elif moment == "when it owns its folder":
    after(OwnedFolder, "__init__", die)
elif moment == "while plan.json is written":
    rlk.files._replace = lambda aside, path: path.name != "plan.json" or die()
elif moment == "when plan.json is written":
    rlk.files._replace = lambda aside, path: path.name != "spec.toml" or die()
    after(rlk.files, "_replace", lambda aside, path: replace(aside, path))
elif moment == "before its second checkpoint":
    after(ProgressFile, "write", lambda _, row: row["time/total_timesteps"] < 32 or die())
elif moment in ("while its first checkpoint is written", "while its second is written"):
    rlk.files._replace = lambda aside, path: path.parent.name != "checkpoints" or die()
    after(rlk.files, "_replace", lambda aside, path: replace(aside, path))
elif moment in ("after its first checkpoint", "after its second checkpoint"):
    after(Checkpoints, "_write_checkpoint", die)
elif moment == "by SIGTERM":
    after(ProgressFile, "write", lambda *_: os.kill(script, signal.SIGTERM))
elif moment == "before model.zip":
    rlk.files._replace = lambda aside, path: path.name != "model.zip" or die()
    after(rlk.files, "_replace", lambda aside, path: replace(aside, path))
rlk_cli.main.main()
"""
PLAN, SPEC, ROWS = "plan.json", "spec.toml", {"progress.csv", "monitor.csv"}
#: What the folder then holds; None: there is none.
LEFT = {
    "before its folder is made": None,
    "when it owns its folder": {OWNER},
    "while plan.json is written": {OWNER, "unfinished"},
    "when plan.json is written": {OWNER, PLAN, "unfinished"},
    "while its first checkpoint is written": {OWNER, PLAN, SPEC, "checkpoints"},
    "after its first checkpoint": {OWNER, PLAN, SPEC, "checkpoints"},
    "before its second checkpoint": {OWNER, PLAN, SPEC, "progress.csv", "checkpoints"},
    "while its second is written": {OWNER, PLAN, SPEC, *ROWS, "checkpoints"},
    "after its second checkpoint": {OWNER, PLAN, SPEC, *ROWS, "checkpoints"},
    "by SIGTERM": {PLAN, SPEC, *ROWS, "checkpoints", "model.zip"},
    "before model.zip": {OWNER, PLAN, SPEC, *ROWS, "checkpoints", "model.zip", "unfinished"},
    "never": {PLAN, SPEC, *ROWS, "checkpoints", "model.zip"},
}
SMALL = (
    "--preset none --timesteps 64 --seed 1 --log-interval 1 --set n_steps=8 --set nminibatches=1"
)


def of_the_page(here: Path) -> str:
    """The script, for a short run in a folder of the test."""
    script = re.search(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    assert script is not None
    text = script[1]
    for old, new in (
        ("source /shared/venv/bin/activate\n", f'export PATH="{here}/bin:$PATH"\n'),
        ("/shared/runs/one", f"{here}/one"),
        ("--timesteps 1000000", SMALL),
        ("checkpoint:every=100000", "checkpoint:every=32"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the script `job`, with its programs, and with that of the fork."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rlk").write_text(f"#!{sys.executable} -IS\n{RLK}")
    (tmp_path / "bin" / "scontrol").write_text('#!/bin/bash\necho "$@" >> requeued\n')
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    (tmp_path / "job").write_text(of_the_page(tmp_path))
    (tmp_path / "fork.py").write_text(FORK)
    return tmp_path


@pytest.fixture
def asked(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket at which the script's `rlk` asks for a fork."""
    monkeypatch.chdir(here)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind("asked")
        listens.listen()
        listens.settimeout(120)
        yield listens


def typed(moment: str, asked: socket.socket, forks: ForkServer) -> tuple[int, str]:
    """Type the script, which calls `rlk` once: (its exit code, what was printed)."""
    Path("moment").write_text(moment)
    environ = {**os.environ, "SLURM_JOB_ID": "7"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(["bash", "job"], env=environ, text=True, **streams) as job:
        Path("pid").write_text(str(job.pid))
        connection, _ = asked.accept()
        with connection, connection.makefile("rw") as asks:
            words = json.loads(asks.readline())
            with forks.start("fork.py", *words, cwd=Path.cwd()) as running:
                print(running.pid, file=asks, flush=True)
                printed, _ = running.communicate(timeout=120)
            print(json.dumps([running.returncode, printed]), file=asks, flush=True)
        printed, _ = job.communicate(timeout=120)
        return job.returncode, printed


def left(here: Path) -> set[str] | None:
    """The names of the files in the run's folder."""
    if not (here / "one").exists():
        return None
    names = {path.name for path in (here / "one").iterdir()}
    return {"unfinished" if name.endswith(".rlk-unfinished") else name for name in names}


def test_a_job_that_is_killed_at_any_moment_ends_when_it_is_typed_again(
    here: Path, asked: socket.socket, rlk_forks: ForkServer
) -> None:
    for moment, files in LEFT.items():
        code, printed = typed(moment, asked, rlk_forks)
        assert code == {"by SIGTERM": 143, "never": 0}.get(moment, 137), (moment, printed)
        assert left(here) == files, moment
    assert (here / "requeued").read_text() == "requeue 7\n"
    with (here / "one" / "progress.csv").open() as file:
        rows = [int(row["time/total_timesteps"]) for row in csv.DictReader(file)]
    assert rows == sorted(set(rows)) and rows[-1] == 64
    with rlk.load(here / "one" / "model.zip") as agent:
        assert agent.num_timesteps == 64
    code, printed = typed("never", asked, rlk_forks)
    assert code == 0 and "the run ended at 64 timesteps" in printed
