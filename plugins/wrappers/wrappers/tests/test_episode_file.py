"""The file of episodes: where it is, failed writes, rows that wait; what is told without one."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rlk
from rlk import growing_file
from rlk.errors import RlkError
from rlk.growing_file import GrowingFile
from rlk.running.clock import Clock
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import stand_in_kernel
from rlk_wrappers import VectorMonitor, load_results
from rlk_wrappers.episode_file import EpisodeFile
from rlk_wrappers.results import read_monitor_header

#: The file knows of its own run only.
_RUN: Any = None


def made(path: Path, flush_seconds: float = 0.0) -> EpisodeFile:
    settings: dict[str, Any] = {"env_id": None, "append": True, "in_run": True}
    return EpisodeFile(path, flush_seconds=flush_seconds, **settings)


def full(*_: Any) -> None:
    """A disk without space."""
    raise OSError("no space left")


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
    file = made(tmp_path / "monitor.csv")
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        file.write(1.0, 5, 0.5)
        with pytest.raises(OSError, match="no space"):
            file.rlk_update_end()
        file.rlk_update_end()
        with pytest.raises(OSError, match="no space"):
            file.rlk_training_end()
        file.write(2.0, 5, 0.5)
        assert file.has_unwritten(_RUN)
    file.rlk_training_end()
    assert returns(tmp_path / "monitor.csv") == [1.0, 2.0] and not file.has_unwritten(_RUN)


def test_a_row_that_waits_for_the_next_flush_is_not_one_that_could_not_be_written(
    tmp_path: Path,
) -> None:
    file = made(tmp_path / "monitor.csv", flush_seconds=1e9)
    file.write(1.0, 5, 0.5)
    assert file.pending and not file.has_unwritten(_RUN)


def test_rows_that_wait_when_an_earlier_state_is_loaded_go_with_those_after_it(
    tmp_path: Path,
) -> None:
    file = made(tmp_path / "monitor.csv", flush_seconds=1e9)
    for return_ in (1.0, 2.0, 3.0):
        file.write(return_, 5, 0.5)
    file.rlk_load({"rows": 1, "earlier_timesteps": 0})
    file.flush()
    assert returns(tmp_path / "monitor.csv") == [1.0]


@pytest.mark.parametrize("is_emptied", [True, False])
def test_a_resumed_run_drops_what_came_after_its_checkpoint_from_a_file_that_was_rotated(
    tmp_path: Path, is_emptied: bool
) -> None:
    path = tmp_path / "monitor.csv"
    file = made(path)
    for return_ in (1.0, 2.0):
        file.write(return_, 5, 0.5)
    (tmp_path / "monitor.csv.1").write_bytes(path.read_bytes())
    os.truncate(path, 0) if is_emptied else path.unlink()
    before = file.rlk_save()
    for return_ in (3.0, 4.0):
        file.write(return_, 5, 0.5)
    saved = file.rlk_save()
    file.write(5.0, 5, 0.5)
    header = read_monitor_header(path)
    assert (header["timesteps"], returns(path)) == (10, [3.0, 4.0, 5.0])
    again = made(path)
    again.rlk_load(saved)
    assert returns(path) == [3.0, 4.0]
    again.write(6.0, 5, 0.5)
    assert again.rlk_save()["rows"] == 5
    made(path).rlk_load(before)
    assert returns(path) == []


def test_a_file_that_began_after_the_checkpoint_begins_anew_with_the_resumed_run(
    tmp_path: Path,
) -> None:
    path = tmp_path / "monitor.csv"
    file = made(path)
    file.write(1.0, 5, 0.5)
    saved = file.rlk_save()
    file.write(2.0, 5, 0.5)
    path.rename(tmp_path / "monitor.csv.1")
    file.write(3.0, 5, 0.5)
    first_line = path.read_text().splitlines()[0]
    assert '"timesteps": 10, "episodes_before": 2' in first_line
    again = made(path)
    again.rlk_load(saved)
    clock = Clock(total_timesteps=20, timesteps=5)
    run: Any = SimpleNamespace(clock=clock, communicator=SimpleNamespace(size=1))
    again.rlk_training_start(run)
    again.write(4.0, 5, 0.5)
    first_line = path.read_text().splitlines()[0]
    assert '"timesteps": 5, "episodes_before": 1' in first_line
    assert returns(path) == [4.0] and again.rlk_save()["rows"] == 2


def test_while_a_write_fails_it_is_not_tried_again_with_every_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[bytes] = []

    def failing(file: Any, data: bytes, head: bytes) -> None:
        tried.append(data)
        raise OSError("no space left")

    file = made(tmp_path / "monitor.csv")
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", failing)
        for return_ in (1.0, 2.0, 3.0):
            file.write(return_, 5, 0.5)
        assert tried == [b"1.0,5,0.5\n"]
        while_full.setattr(growing_file, "REST_SECONDS", 0.0)
        file.flush_if_due()
        assert len(tried) == 2
    file.flush()
    assert returns(tmp_path / "monitor.csv") == [1.0, 2.0, 3.0]


def test_a_long_file_is_cut_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text('#{"t_start": 1.0, "env_id": null}\nr,l,t\n' + "1.0,1,0.5\n" * 200_000)
    tracemalloc.start()
    made(path).rlk_load({"rows": 150_000, "earlier_timesteps": 0})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(returns(path)) == 150_000
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize("head", ['#{"t_start": 1', '#{"episodes_before": "x"}'])
def test_a_file_whose_first_line_is_damaged_is_refused_and_left_as_it_is(
    tmp_path: Path, head: str
) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text(f"{head}\nr,l,t\n1.0,1,0.5\n")
    with pytest.raises(RlkError, match=r"first line is damaged .*Move it away"):
        made(path)
    assert path.read_text() == f"{head}\nr,l,t\n1.0,1,0.5\n"


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
        read_monitor_header(str(tmp_path / name / "monitor.csv"))["timesteps"]
        for name in ("twice", "goes-on", "begins")
    ]
    assert begun == [0, 0, 32]


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_file_that_is_rotated_after_several_calls_of_learn_begins_with_the_timesteps_of_all(
    tmp_path: Path, is_resumed: bool
) -> None:
    chosen: dict[str, Any] = {"env": partial(DiscreteMatch, length=8), "out": tmp_path}
    chosen["kernel"] = stand_in_kernel(True)
    agent = rlk.make("stand-in", plugins=["checkpoint"], **chosen)
    agent.learn(32).learn(12)  # the last 4 of them are of an episode that has not ended
    if is_resumed:
        agent.close()
        agent = rlk.load(tmp_path / "checkpoints" / "12.standin", **chosen)
    (tmp_path / "monitor.csv").unlink()
    agent.learn(20, reset_num_timesteps=not is_resumed)
    agent.close()
    assert read_monitor_header(tmp_path / "monitor.csv")["timesteps"] == 40


def test_of_several_ranks_the_first_episodes_began_after_the_timesteps_of_this_one(
    tmp_path: Path,
) -> None:
    file = made(tmp_path / "monitor.csv")
    clock = Clock(total_timesteps=128, timesteps=64)
    run: Any = SimpleNamespace(clock=clock, communicator=SimpleNamespace(size=2))
    file.rlk_training_start(run)
    file.write(1.0, 5, 0.5)
    header = read_monitor_header(str(tmp_path / "monitor.csv"))
    assert (header["timesteps"], header["ranks"]) == (32, 2)


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
