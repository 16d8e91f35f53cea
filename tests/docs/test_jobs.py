"""The script of docs/jobs.md is killed at one moment after the other, and typed again."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rlk
from rlk.running.folder_owner import OWNER

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="a script for bash"
)

#: `rlk` in the script: it dies, or lets the script get a signal, where the file `moment` says.
RLK = """
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

moment = Path("moment").read_text()
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
    after(ProgressFile, "write", lambda *_: os.kill(os.getppid(), signal.SIGTERM))
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
    """A folder with the script `job`, and with its programs."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rlk").write_text(f"#!{sys.executable}\n{RLK}")
    (tmp_path / "bin" / "scontrol").write_text('#!/bin/bash\necho "$@" >> requeued\n')
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    (tmp_path / "job").write_text(of_the_page(tmp_path))
    return tmp_path


def typed(here: Path, moment: str) -> subprocess.CompletedProcess[str]:
    """The script, typed and ended."""
    (here / "moment").write_text(moment)
    environ = {**os.environ, "SLURM_JOB_ID": "7", "OMP_NUM_THREADS": "1"}
    command = ["bash", "job"]
    return subprocess.run(
        command, cwd=here, env=environ, capture_output=True, text=True, timeout=120
    )


def left(here: Path) -> set[str] | None:
    """The names of the files in the run's folder."""
    if not (here / "one").exists():
        return None
    names = {path.name for path in (here / "one").iterdir()}
    return {"unfinished" if name.endswith(".rlk-unfinished") else name for name in names}


def test_a_job_that_is_killed_at_any_moment_ends_when_it_is_typed_again(here: Path) -> None:
    for moment, files in LEFT.items():
        ended = typed(here, moment)
        code = {"by SIGTERM": 143, "never": 0}.get(moment, 137)
        assert ended.returncode == code, (moment, ended.stdout, ended.stderr)
        assert left(here) == files, moment
    assert (here / "requeued").read_text() == "requeue 7\n"
    with (here / "one" / "progress.csv").open() as file:
        rows = [int(row["time/total_timesteps"]) for row in csv.DictReader(file)]
    assert rows == sorted(set(rows)) and rows[-1] == 64
    with rlk.load(here / "one" / "model.zip") as agent:
        assert agent.num_timesteps == 64
    again = typed(here, "never")
    assert again.returncode == 0 and "the run ended at 64 timesteps" in again.stdout
