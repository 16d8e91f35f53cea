"""The file of episodes: where it is, failed writes, rows that wait; what is told without one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rlk
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import stand_in_kernel
from rlk_wrappers import VectorMonitor, episode_file, load_results
from rlk_wrappers.episode_file import EpisodeFile
from rlk_wrappers.results import read_monitor_file


def made(path: Path, flush_seconds: float = 0.0) -> EpisodeFile:
    settings: dict[str, Any] = {"env_id": None, "append": True, "in_run": True}
    return EpisodeFile(path, flush_seconds=flush_seconds, **settings)


def returns(path: Path) -> list[float]:
    return [float(line.split(",")[0]) for line in path.read_text().splitlines()[2:]]


def test_returns_are_rounded_to_six_decimals_and_small_ones_to_six_digits(tmp_path: Path) -> None:
    file = made(tmp_path / "monitor.csv")
    for return_ in (0.1 + 0.2, 1234567.1234567, -3.00000000123e-8, 0.0, np.nan, np.inf, -np.inf):
        file.write(return_, 5, 0.5)
    cells = [row.split(",")[0] for row in (tmp_path / "monitor.csv").read_text().splitlines()[2:]]
    assert cells == ["0.3", "1234567.123457", "-3e-08", "0.0", "nan", "inf", "-inf"]
    np.testing.assert_array_equal(load_results(tmp_path)["r"], [float(cell) for cell in cells])


def test_a_failed_write_is_raised_once_when_the_iteration_ends_and_its_rows_come_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError("no space left")

    file = made(tmp_path / "monitor.csv")
    with monkeypatch.context() as while_full:
        while_full.setattr(episode_file, "replacing", full)
        file.write(1.0, 5, 0.5)
        with pytest.raises(OSError, match="no space"):
            file.rlk_update_end()
        file.rlk_update_end()
        with pytest.raises(OSError, match="no space"):
            file.rlk_training_end()
    file.rlk_training_end()
    assert returns(tmp_path / "monitor.csv") == [1.0]


def test_rows_that_wait_when_an_earlier_state_is_loaded_go_with_those_after_it(
    tmp_path: Path,
) -> None:
    file = made(tmp_path / "monitor.csv", flush_seconds=1e9)
    for return_ in (1.0, 2.0, 3.0):
        file.write(return_, 5, 0.5)
    file.rlk_load({"rows": 1})
    file.close()
    assert returns(tmp_path / "monitor.csv") == [1.0]


def test_it_stays_where_it_began_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    file = made(Path("monitor.csv"))
    monkeypatch.chdir("elsewhere")
    file.write(1.0, 5, 0.5)
    assert returns(tmp_path / "monitor.csv") == [1.0]


def test_the_first_episodes_began_before_the_timesteps_that_they_have_taken(
    tmp_path: Path,
) -> None:
    """Episodes are longer than the first piece of the run."""
    again: dict[str, Any] = {
        "env": partial(DiscreteMatch, length=60),
        "kernel": stand_in_kernel(True),
    }
    with rlk.make("stand-in", out=tmp_path / "twice", n_envs=2, seed=0, **again) as agent:
        agent.learn(32)
        agent.save(tmp_path / "model.zip")
        agent.save_checkpoint(tmp_path / "checkpoint.zip")
        assert not (tmp_path / "twice" / "monitor.csv").exists()
        agent.learn(320, reset_num_timesteps=False)
    for name, path in (("goes-on", "checkpoint.zip"), ("begins", "model.zip")):
        with rlk.load(tmp_path / path, out=tmp_path / name, **again) as agent:
            agent.learn(320, reset_num_timesteps=False)
    begun = [
        read_monitor_file(str(tmp_path / name / "monitor.csv"))[0]["timesteps"]
        for name in ("twice", "goes-on", "begins")
    ]
    assert begun == [0, 0, 32]


def test_of_several_ranks_the_first_episodes_began_after_the_timesteps_of_this_one(
    tmp_path: Path,
) -> None:
    file = made(tmp_path / "monitor.csv")
    run: Any = SimpleNamespace(timesteps=64, communicator=SimpleNamespace(size=2))
    file.rlk_training_start(run)
    file.write(1.0, 5, 0.5)
    assert read_monitor_file(str(tmp_path / "monitor.csv"))[0]["timesteps"] == 32


def test_without_a_file_episodes_end_at_the_time_of_the_finest_clock(
    counting: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    env = VectorMonitor(counting(length=1))
    env.reset()
    now[0] += 0.001
    infos = env.step(np.zeros((2, 2)))[-1]
    assert infos["final_info"]["episode"]["t"].tolist() == [0.001, 0.001]
