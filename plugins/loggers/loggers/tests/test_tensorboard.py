"""Tensorboard events, read back with tensorboard's own reader."""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.event_pb2 import SessionLog

from rlk import growing_file
from rlk.growing_file import GrowingFile
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_loggers.tensorboard import EventFile, TensorboardLogger
from rlk_testing.stand_ins import stand_in_kernel


class StandInRun:
    """What the logger uses of a run."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


class Opened:
    """The logger in a run."""

    def __init__(self, out: Path, timesteps: int = 0, rank: int = 0) -> None:
        self.run: Any = StandInRun(
            out=out,
            timesteps=timesteps,
            communicator=SimpleNamespace(rank=rank),
            plan=resolve(stand_in_kernel(), make_spec("stand-in", {"n_envs": 3})),
            on_close=[],
        )
        self.logger = TensorboardLogger()
        self.logger.rlk_training_start(self.run)

    def write(self, timesteps: int, row: dict[str, float]) -> None:
        self.run.timesteps = timesteps
        self.logger.rlk_write_row(self.run, row)

    def close(self) -> None:
        for close in self.run.on_close:
            close()


def full(*_: Any) -> None:
    """A disk without space."""
    raise OSError("no space left")


def read(out: Path) -> EventAccumulator:
    events = EventAccumulator(str(out), size_guidance={"tensors": 0, "scalars": 0})
    return events.Reload()


def test_tags_become_scalars_by_timesteps(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"rollout/ep_rew_mean": 1.5, "time/fps": 100})
    logger.write(16, {"rollout/ep_rew_mean": 2.5})
    logger.close()
    events = read(tmp_path)
    found = [(event.step, event.value) for event in events.Scalars("rollout/ep_rew_mean")]
    assert found == [(8, 1.5), (16, 2.5)]
    assert [event.value for event in events.Scalars("time/fps")] == [100.0]


def test_the_plan_is_kept_as_text(tmp_path: Path) -> None:
    Opened(tmp_path).close()
    (event,) = read(tmp_path).Tensors("plan/text_summary")
    text = event.tensor_proto.string_val[0].decode()
    lines = [line.split() for line in text.splitlines()]
    assert ["n_envs", "3", "user"] in lines
    assert all(line.startswith("    ") for line in text.splitlines())  # Markdown's block of code


def test_a_resumed_run_hides_what_came_after_its_checkpoint(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": float(timesteps)})
    first.close()
    # Readers take files in the order of their names, which begin with the time in seconds.
    (events,) = tmp_path.iterdir()
    events.rename(tmp_path / "events.out.tfevents.1000000000.here.1.0")
    second = Opened(tmp_path, timesteps=16)
    second.write(20, {"a": 20.0})
    second.close()
    assert [event.value for event in read(tmp_path).Scalars("a")] == [8.0, 16.0, 20.0]
    first_file, second_file = sorted(tmp_path.iterdir())
    assert [starts(first_file), starts(second_file)] == [[], [17]]


@pytest.mark.parametrize("name", ["4000000000.123456.here.1", "4000000000.there.1.0"])
def test_a_resumed_run_hides_what_came_after_its_checkpoint_also_if_the_clock_was_set_back(
    tmp_path: Path, name: str
) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": float(timesteps)})
    (events,) = tmp_path.iterdir()
    events.rename(tmp_path / f"events.out.tfevents.{name}")
    for timesteps in (20, 24):
        Opened(tmp_path, timesteps=16).write(timesteps, {"a": float(timesteps)})
    assert [event.value for event in read(tmp_path).Scalars("a")] == [8.0, 16.0, 24.0]


def starts(path: Path) -> list[int]:
    """The steps at which a file hides earlier events."""
    events = EventFileLoader(str(path)).Load()
    return [event.step for event in events if event.session_log.status == SessionLog.START]


def test_what_could_not_be_written_is_written_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = Opened(tmp_path)
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        with pytest.raises(OSError, match="no space"):
            logger.write(8, {"a": 1.0})
    logger.logger.rlk_training_end(logger.run)
    assert [event.value for event in read(tmp_path).Scalars("a")] == [1.0]


def test_events_that_wait_are_tried_again_later_or_with_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = Opened(tmp_path)
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        with pytest.raises(OSError, match="no space"):
            logger.write(8, {"a": 1.0})
        logger.write(16, {"a": 2.0})  # it rests, so it raises nothing
        logger.logger.rlk_save(logger.run)  # a checkpoint may fit elsewhere
        while_full.setattr(growing_file, "REST_SECONDS", 0.0)
        with pytest.raises(OSError, match="no space"):
            logger.write(24, {"a": 3.0})
    logger.logger.rlk_save(logger.run)
    assert [event.value for event in read(tmp_path).Scalars("a")] == [1.0, 2.0, 3.0]


def test_what_could_not_be_written_at_the_start_is_written_with_the_first_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = Opened(tmp_path, rank=1)  # which begins nothing
    logger.run.communicator.rank = 0
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        with pytest.raises(OSError, match="no space"):
            logger.logger.rlk_training_start(logger.run)
    monkeypatch.setattr(growing_file, "REST_SECONDS", 0.0)
    logger.write(8, {"a": 1.0})
    events = read(tmp_path)
    assert [event.step for event in events.Scalars("a")] == [8]
    assert len(events.Tensors("plan/text_summary")) == 1


def test_without_a_folder_it_says_what_to_type() -> None:
    plan: Any = SimpleNamespace(out=None)
    problem = TensorboardLogger().rlk_check_plan(plan)
    assert problem is not None and "'tensorboard'" in problem and "--out" in problem


def test_other_ranks_write_nothing(tmp_path: Path) -> None:
    logger = Opened(tmp_path, rank=1)
    logger.write(8, {"a": 1.0})
    logger.close()
    assert list(tmp_path.iterdir()) == []


def test_an_event_that_is_added_waits_for_the_next_flush(tmp_path: Path) -> None:
    before = time.time()
    file = EventFile(tmp_path)
    file.add(step=1)
    assert not list(tmp_path.iterdir())
    file.write(step=2)
    (path,) = tmp_path.iterdir()
    events = list(EventFileLoader(str(path)).Load())
    assert [event.step for event in events] == [0, 1, 2]
    assert all(before <= event.wall_time <= time.time() for event in events)


@pytest.mark.parametrize("copies", [True, False])
def test_a_run_of_weights_and_biases_that_copies_events_is_told_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: bool
) -> None:
    """W&B itself learns of folders by classes of TensorBoard that it replaces."""
    told: list[str] = []
    wandb: Any = SimpleNamespace(
        patched={"tensorboard": [("a.module", "EventFileWriter")] if copies else []},
        run=SimpleNamespace(_tensorboard_callback=told.append),
    )
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.chdir(tmp_path)
    EventFile(Path("events"))
    assert told == ([str(tmp_path / "events")] if copies else [])


def test_a_release_of_weights_and_biases_that_cannot_be_told_of_the_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb: Any = SimpleNamespace(patched={"tensorboard": [("a", "b")]}, run=SimpleNamespace())
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    with pytest.warns(UserWarning, match="does not copy the events in .*by a logger of your own"):
        EventFile(tmp_path)


def test_another_module_that_is_called_wandb_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder `wandb`, which W&B writes, is a module for `import wandb` where W&B is not there."""
    monkeypatch.setitem(sys.modules, "wandb", ModuleType("wandb"))
    EventFile(tmp_path).write(step=1)
    assert len(list(tmp_path.iterdir())) == 1


def test_files_have_the_names_that_tensorboard_gives(tmp_path: Path) -> None:
    """Programs that watch a folder find in them the second, the machine and the process."""
    for file in (EventFile(tmp_path), EventFile(tmp_path)):
        file.write(step=1)
    ends = re.escape(f".{socket.gethostname()}.{os.getpid()}.")
    names = [path.name for path in tmp_path.iterdir()]
    assert len(names) == 2
    assert all(re.fullmatch(rf"events\.out\.tfevents\.\d{{10}}{ends}\d+", name) for name in names)


def test_without_an_event_there_is_no_file(tmp_path: Path) -> None:
    EventFile(tmp_path).flush()
    assert list(tmp_path.iterdir()) == []
