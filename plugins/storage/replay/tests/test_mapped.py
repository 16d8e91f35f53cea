"""Transitions in files that are mapped into memory: the same replay, in little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import OutOfMemory, RlkError
from rlk_replay import memory
from rlk_replay.config import ReplayConfig
from rlk_replay.memory import Mapped, in_memory
from rlk_replay.storage import Replay
from rlk_testing import StorageContract
from rlk_testing.contracts.storage.trajectory import SPACES, Trajectory, schema
from rlk_testing.tools.states import same


class TestMappedReplay(StorageContract):
    component = "replay"

    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "settings", {"mapped": str(tmp_path)})


STACKS = gym.spaces.Box(0, 255, (4, 90), np.uint8)


def full(*_: Any) -> None:
    """Reserve room in a file on a disk that has none left."""
    raise OSError(28, "No space left on device")


def filled(folder: Path | None, steps: int = 70, size: int = 50) -> Replay:
    where = None if folder is None else str(folder)
    storage = Replay(ReplayConfig(buffer_size=size, mapped=where, frame_stack=4))
    trajectory = Trajectory(STACKS, gym.spaces.Discrete(4))
    storage.open(schema(trajectory))
    for step in trajectory.steps(steps):
        storage.add(step)
    return storage


def test_it_samples_and_saves_what_the_replay_in_memory_does(tmp_path: Path) -> None:
    mapped, plain = filled(tmp_path), filled(None)
    assert same(mapped.state_dict(), plain.state_dict())
    one, other = mapped.sample(40), plain.sample(40)
    assert one.index.tolist() == other.index.tolist()
    assert one.observation.equal(other.observation) and one.reward.equal(other.reward)
    resumed = filled(tmp_path, steps=0)
    resumed.load_state_dict(plain.state_dict())
    assert same(resumed.state_dict(), plain.state_dict())


def test_its_arrays_take_no_memory_of_the_process(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        storage = Replay(ReplayConfig(buffer_size=40_000, mapped=str(tmp_path)))
        trajectory = Trajectory(SPACES["image"], gym.spaces.Discrete(4))
        storage.open(schema(trajectory))
        for step in trajectory.steps(10):
            storage.add(step)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(storage) == 20
    assert 50 * taken < 40_000 * 40 * 40 * 3  # of 192 MB


def test_the_folder_is_made_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    one, other = filled(folder), filled(folder)  # two at a time
    assert list(folder.iterdir()) == []
    assert same(one.state_dict(), other.state_dict())


def test_a_folder_of_the_user_is_found_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    arrays = Replay(ReplayConfig(mapped="~/replay")), Replay(ReplayConfig(mapped="here"))
    monkeypatch.chdir("elsewhere")
    trajectory = Trajectory(STACKS, gym.spaces.Discrete(4))
    for storage in arrays:
        storage.open(schema(trajectory))
        storage.add(next(iter(trajectory.steps(1))))
    assert (tmp_path / "home" / "replay").is_dir() and (tmp_path / "here").is_dir()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_every_byte_of_an_array_is_reserved_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved = []
    monkeypatch.setattr(memory.os, "posix_fallocate", lambda *given: reserved.append(given[1:]))
    Mapped(str(tmp_path)).zeros((3, 5), np.float64)
    assert reserved == [(0, 120)]


def test_a_place_that_is_no_folder_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RlkError, match=r"(?s)cannot keep .*file.*another folder.*replay\.mapped="):
        filled(tmp_path / "file")


def test_a_full_disk_is_refused_in_words_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(RlkError, match=r"1000000000\.0 GB are needed and .* GB are free.*buffer_s"):
        Mapped(str(tmp_path)).zeros((10**9, 10**9), np.uint8)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_meanwhile_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory.os, "posix_fallocate", full)
    with pytest.raises(RlkError, match=r"No space left on device.*name another folder"):
        filled(tmp_path)


@pytest.mark.parametrize("frame_stack", [1, 4])
def test_a_disk_that_fills_up_after_the_first_step_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame_stack: int
) -> None:
    trajectory = Trajectory(STACKS, gym.spaces.Discrete(4))
    storages = []
    for mapped in (str(tmp_path), None):
        storages.append(
            Replay(ReplayConfig(buffer_size=500, mapped=mapped, frame_stack=frame_stack))
        )
        storages[-1].open(schema(trajectory))

    def play(steps: int) -> None:
        for step in trajectory.steps(steps):
            for storage in storages:
                storage.add(step)

    play(1)
    monkeypatch.setattr(memory.os, "posix_fallocate", full)
    with pytest.warns(RuntimeWarning, match=r"No space left(?s:.*)This run goes on, with 0\.0 GB"):
        play(400)
    assert same(storages[0].state_dict(), storages[1].state_dict())


@pytest.mark.parametrize("rows", [10**9, 10**18])
def test_more_than_there_is_memory_is_refused_with_what_to_type(rows: int) -> None:
    with pytest.raises(OutOfMemory, match=r"needs 10+\.0 GB of memory.*replay\.mapped=FOLDER"):
        in_memory((rows, 10**9), np.uint8)


def test_an_agent_that_only_acts_takes_no_memory_for_its_replay(tmp_path: Path) -> None:
    with rlk.make("dqn", env="CartPole-v1", buffer_size=10**14) as agent:
        agent.predict(np.zeros(4, np.float32))
        with pytest.raises(RlkError, match="of memory at once"):
            agent.learn(1)


def test_a_run_resumes_as_one_in_memory_does(tmp_path: Path) -> None:
    settings = {"env": "CartPole-v1", "seed": 2, "buffer_size": 80, "learning_starts": 20}
    ends = []
    for where in ({"replay.mapped": str(tmp_path / "maps")}, {}):
        with rlk.make("dqn", **settings, **where) as agent:
            path = agent.learn(100).save_checkpoint(tmp_path / f"{len(ends)}")
            with rlk.load(path, **where) as resumed:
                assert resumed.differs == []
                for one in (agent, resumed):
                    ends.append(
                        one.learn(50, reset_num_timesteps=False).run.parameters.flat.clone()
                    )
    assert all(end.equal(ends[0]) for end in ends)


def test_a_saved_plan_does_not_choose_the_folder(tmp_path: Path) -> None:
    maps = str(tmp_path / "maps")
    with rlk.make("dqn", env="CartPole-v1", **{"replay.mapped": maps}) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path) as loaded:
        assert loaded.plan.storages[0].config.mapped is None
        assert any("replay.mapped" in sentence for sentence in loaded.differs)
