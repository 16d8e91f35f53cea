"""Commands of a process that was started without some of its standard streams."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

RLK = f"{shlex.quote(sys.executable)} -m rlk"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_whose_streams_are_closed_trains_to_its_end(tmp_path: Path, closed: str) -> None:
    out = shlex.quote(str(tmp_path / "run"))
    typed = f"{RLK} run --algo a2c --preset none --timesteps 20 --out {out} {closed}"
    assert subprocess.run(["sh", "-c", typed], timeout=120, check=False).returncode == 0
    assert (tmp_path / "run" / "model.zip").is_file()


def test_an_agent_of_a_process_without_streams_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    import rlk

    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    settings = {"vec_env.start_method": "fork"}
    with rlk.make("a2c", vec_env="subprocess", n_envs=2, verbose=1, **settings) as agent:
        agent.learn(20)
        assert agent.num_timesteps == 20
