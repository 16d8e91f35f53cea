"""Commands whose standard streams are closed, or cannot show every character."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rlk_testing.tools.forks import ForkServer

RLK = f"{shlex.quote(sys.executable)} -m rlk"
RUN = ["run", "--algo", "a2c", "--preset", "none", "--timesteps", "20", "--out", "run"]
#: Makes a fork what `python -m rlk … >&-` (or `2>&-`) is, and runs that.
WITHOUT = """
import os, runpy, sys
number = int(sys.argv.pop(1))
os.close(number)
name = {1: "stdout", 2: "stderr"}[number]
setattr(sys, name, None), setattr(sys, f"__{name}__", None)
runpy.run_module("rlk", run_name="__main__", alter_sys=True)
"""
#: Makes a fork what `PYTHONIOENCODING=ascii python -m rlk …` is, and runs that.
IN_ASCII = """
import runpy, sys
sys.stdout.reconfigure(encoding="ascii", errors="strict")
runpy.run_module("rlk", run_name="__main__", alter_sys=True)
"""


def test_a_run_whose_streams_are_closed_trains_to_its_end(tmp_path: Path) -> None:
    typed = f"{RLK} {shlex.join(RUN)} <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", typed], timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "run" / "model.zip").is_file()


@pytest.mark.parametrize("number", [1, 2])
def test_a_run_with_one_stream_closed_trains_to_its_end(
    tmp_path: Path, rlk_forks: ForkServer, number: int
) -> None:
    program = tmp_path / "without.py"
    program.write_text(WITHOUT)
    with rlk_forks.start(program, number, *RUN, cwd=tmp_path, frees_modules=True) as running:
        printed, _ = running.communicate(timeout=120)
    assert running.returncode == 0, printed
    assert "Error" not in printed and ("timesteps" in printed) == (number == 2)
    assert (tmp_path / "run" / "model.zip").is_file()


def test_a_name_that_the_output_cannot_show_ends_no_run(
    tmp_path: Path, rlk_forks: ForkServer
) -> None:
    program = tmp_path / "in_ascii.py"
    program.write_text(IN_ASCII)
    with rlk_forks.start(program, *RUN[:-1], "日本", cwd=tmp_path) as running:
        printed, _ = running.communicate(timeout=120)
    assert running.returncode == 0, printed
    assert "into \\u65e5\\u672c/" in printed
    assert (tmp_path / "日本" / "model.zip").is_file()


def test_an_agent_of_a_process_without_streams_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    import rlk

    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    settings = {"vec_env.start_method": "fork"}
    with rlk.make("a2c", vec_env="subprocess", n_envs=2, verbose=1, **settings) as agent:
        agent.learn(20)
        assert agent.num_timesteps == 20
