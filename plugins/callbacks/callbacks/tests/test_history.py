"""The file of all evaluations of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk
from rlk.errors import BadFile
from rlk_callbacks import evaluation
from rlk_callbacks.evaluation import EvaluationCallback
from rlk_callbacks.history import (
    HISTORY,
    History,
    read_before_folder,
    read_history,
    unpacked,
    write_history,
)
from rlk_evaluate.evaluate import Evaluation
from rlk_testing import stand_in_kernel
from rlk_zip.serializer import ZipSerializer

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


def scripted(monkeypatch: pytest.MonkeyPatch, *means: float) -> None:
    """Evaluations have these mean returns, one after the other."""
    left = iter(means)

    def play(run: Any, *_: Any, **__: Any) -> Evaluation:
        return Evaluation([next(left)], [1], [], run.timesteps)

    monkeypatch.setattr(evaluation, "evaluate_run", play)


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    history = [Evaluation([1.0, 2.0], [3, 4], [], 10), Evaluation([5.0], [6], [], 20)]
    write_history(tmp_path / "e.npz", History(history))
    assert read_history(tmp_path / "e.npz") == history
    history = [Evaluation([1.0, 2.0], [3, 4], [1.0, 0.25], 10)]
    write_history(tmp_path / "e.npz", History(history))
    assert read_history(tmp_path / "e.npz") == history
    assert read_history(tmp_path / "none.npz") == []
    np.savez(tmp_path / "bad.npz", timesteps=np.zeros(3), results=np.zeros((2, 5)))
    with pytest.raises(BadFile, match=r"bad\.npz is damaged: .* Move it elsewhere"):
        read_history(tmp_path / "bad.npz")


@pytest.mark.parametrize("lacks", ["timesteps", "cumulative_timesteps", "results", "ep_lengths"])
def test_a_history_that_lacks_a_column_is_damaged(tmp_path: Path, lacks: str) -> None:
    path = tmp_path / "e.npz"
    write_history(path, History(MIXED))
    np.savez(path, **{name: one for name, one in np.load(path).items() if name != lacks})
    with pytest.raises(BadFile, match=r"e\.npz is damaged: .* with their cumulative_timesteps"):
        read_history(path)


def test_a_history_that_could_not_be_written_once_is_not_missing_when_it_was_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [OSError(116, "Stale file handle")]

    def fails_once(*given: Any) -> None:
        if errors:
            raise errors.pop()
        write_history(*given)

    monkeypatch.setattr(evaluation, "write_history", fails_once)
    chosen: Any = {"env": WALK, "kernel": KERNEL, "plugins": ["evaluation:every=4,episodes=1"]}
    with rlk.make("stand-in", serializer="zip", out=str(tmp_path / "a"), **chosen) as agent:
        agent.learn(8)
        assert not errors and not agent.run.failed_writes
    assert len(read_history(tmp_path / "a" / HISTORY)) == 2


def test_a_long_history_is_written_when_it_has_grown_by_a_hundredth() -> None:
    history, written = History(), [0]
    for _ in range(1200):
        history.append(Evaluation([1.0], [1]))
        if history.is_due(written[-1]):
            written.append(len(history))
    assert written[:1001] == list(range(1001))
    # 1.01 * 1000 is 1010; 1.01 * 1010 is 1020.1, so it waits for 1021.
    assert written[1001:1005] == [1010, 1021, 1032, 1043] and len(written) == 1018


def test_what_is_not_due_is_written_with_a_new_best_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0, 6.0, 6.0, 4.0)
    written = list[int]()

    def write(path: Path, history: History, before_folder: int) -> None:
        written.append(len(history))
        write_history(path, history, before_folder)

    monkeypatch.setattr(evaluation, "write_history", write)
    monkeypatch.setattr(History, "is_due", lambda *_: False)
    chosen: Any = {"env": WALK, "kernel": KERNEL, "plugins": ["evaluation:every=4,episodes=1"]}
    with rlk.make("stand-in", serializer="zip", out=str(tmp_path / "a"), **chosen) as agent:
        agent.learn(20)
    assert written == [1, 3, 5] and len(read_history(tmp_path / "a" / HISTORY)) == 5


def test_cumulative_timesteps_are_in_the_file(tmp_path: Path) -> None:
    history = [Evaluation([1.0], [3], [], at, cumulative_timesteps=20 + at) for at in (10, 20)]
    write_history(tmp_path / "e.npz", History(history))
    assert read_history(tmp_path / "e.npz") == history
    assert np.load(tmp_path / "e.npz")["cumulative_timesteps"].tolist() == [30, 40]


def test_cumulative_timesteps_are_those_of_the_folder_whenever_its_model_is_loaded_again(
    tmp_path: Path,
) -> None:
    chosen: Any = {"env": WALK, "kernel": KERNEL, "plugins": ["evaluation:every=4,episodes=1"]}
    with rlk.make("stand-in", serializer="zip", out=str(tmp_path / "a"), **chosen) as agent:
        agent.learn(8)
        agent.learn(8)
    for loaded in ("a", "b", "b"):
        with rlk.load(tmp_path / loaded, out=str(tmp_path / "b"), **chosen) as agent:
            agent.learn(8, reset_num_timesteps=False)
    history = read_history(tmp_path / "b" / HISTORY)
    assert [one.timesteps for one in history] == [12, 16, 20, 24, 28, 32]
    assert [one.cumulative_timesteps for one in history] == [12, 16, 20, 24, 28, 32]


def test_cumulative_timesteps_are_those_of_the_folder_from_each_of_its_checkpoints(
    tmp_path: Path,
) -> None:
    plugins = ["evaluation:every=4,episodes=1", "checkpoint:every=4,keep=none"]
    chosen: Any = {"env": WALK, "kernel": KERNEL, "plugins": plugins}
    with rlk.make("stand-in", serializer="zip", **chosen) as agent:
        agent.learn(20)
        agent.save(tmp_path / "model.zip")
    folder = tmp_path / "run"
    with rlk.load(tmp_path / "model.zip", out=str(folder), **chosen) as agent:
        agent.learn(8)
    with rlk.load(folder / "checkpoints" / "4.zip", out=str(folder), **chosen) as agent:
        agent.learn(8, reset_num_timesteps=False)
    history = read_history(folder / HISTORY)
    assert [one.cumulative_timesteps for one in history] == [4, 8, 12]


@pytest.mark.parametrize("damaged", [-1, 0.5, [3, 4], "three"])
def test_timesteps_of_other_folders_are_a_count(tmp_path: Path, damaged: Any) -> None:
    path, history = tmp_path / "e.npz", [Evaluation([1.0], [3], [], 10)]
    write_history(path, History(history), 20)
    assert read_before_folder(path) == 20
    found = dict(np.load(path))
    np.savez(path, **found | {"before_folder": np.array(damaged)})
    with pytest.raises(BadFile, match=r"e\.npz is damaged: its before_folder is no count"):
        read_before_folder(path)
    del found["before_folder"]
    np.savez(path, **found)
    with pytest.raises(BadFile, match=r"e\.npz is damaged: its before_folder is no count"):
        read_before_folder(path)


def test_rows_of_unequal_length_end_in_nan(tmp_path: Path) -> None:
    history = [
        Evaluation([1.0, 2.0], [3, 4], [1.0, 0.25], 10),
        Evaluation([5.0], [6], [1.0], 20),
    ]
    write_history(tmp_path / "e.npz", History(history))
    with np.load(tmp_path / "e.npz") as kept:
        assert kept["results"][0].tolist() == [1.0, 2.0]
        assert kept["results"][1, 0] == 5.0
        assert np.isnan(kept["results"][1, 1])
        assert kept["ep_lengths"].tolist() == [[3, 4], [6, 0]]
        assert "successes" not in kept


MIXED = [
    Evaluation([1.5, -2.0], [3, 4], [1.0, 0.25], 10),
    Evaluation([0.1], [6], [], 20),
    Evaluation([5.0, 6.0, 7.0], [7, 8, 9], [1.0], 30, cumulative_timesteps=50),
]


@pytest.mark.parametrize("history", [[], MIXED], ids=["none", "several"])
def test_a_checkpoint_keeps_every_evaluation(history: list[Evaluation], tmp_path: Path) -> None:
    files = ZipSerializer()
    files.write(tmp_path / "c.zip", {"history": History(history).packed()})
    assert unpacked(files.read(tmp_path / "c.zip")["history"]) == history


def test_a_checkpoint_keeps_the_evaluations_of_the_longest_runs(tmp_path: Path) -> None:
    callback = EvaluationCallback()
    history = [Evaluation([1.5] * 100, [200] * 100, [], at) for at in range(5000)]
    callback._history = History(history)
    files = ZipSerializer()
    files.write(tmp_path / "c.zip", {"evaluation": callback.rlk_save()})
    found: Any = files.read(tmp_path / "c.zip")["evaluation"]
    assert unpacked(found["history"]) == history
