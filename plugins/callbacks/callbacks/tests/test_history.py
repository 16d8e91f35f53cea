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
    packed,
    read_history,
    unpacked,
    write_history,
)
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.stand_ins import stand_in_kernel
from rlk_zip.serializer import ZipSerializer

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    history = [Evaluation([1.0, 2.0], [3, 4], [], 10), Evaluation([5.0], [6], [], 20)]
    write_history(tmp_path / "e.npz", history)
    assert read_history(tmp_path / "e.npz") == history
    history = [Evaluation([1.0, 2.0], [3, 4], [1.0, 0.25], 10)]
    write_history(tmp_path / "e.npz", history)
    assert read_history(tmp_path / "e.npz") == history
    assert read_history(tmp_path / "none.npz") == []
    np.savez(tmp_path / "bad.npz", timesteps=np.zeros(3), results=np.zeros((2, 5)))
    with pytest.raises(BadFile, match=r"bad\.npz is damaged: .* Move it elsewhere"):
        read_history(tmp_path / "bad.npz")


@pytest.mark.parametrize("lacks", ["timesteps", "results", "ep_lengths"])
def test_a_history_that_lacks_a_column_is_damaged(tmp_path: Path, lacks: str) -> None:
    path = tmp_path / "e.npz"
    write_history(path, MIXED)
    np.savez(path, **{name: one for name, one in np.load(path).items() if name != lacks})
    with pytest.raises(BadFile, match=r"e\.npz is damaged: it has no returns and lengths"):
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


def test_rows_of_unequal_length_end_in_nan(tmp_path: Path) -> None:
    history = [
        Evaluation([1.0, 2.0], [3, 4], [1.0, 0.25], 10),
        Evaluation([5.0], [6], [1.0], 20),
    ]
    write_history(tmp_path / "e.npz", history)
    with np.load(tmp_path / "e.npz") as kept:
        assert kept["results"][0].tolist() == [1.0, 2.0]
        assert kept["results"][1, 0] == 5.0
        assert np.isnan(kept["results"][1, 1])
        assert kept["ep_lengths"].tolist() == [[3, 4], [6, 0]]
        assert "successes" not in kept


MIXED = [
    Evaluation([1.5, -2.0], [3, 4], [1.0, 0.25], 10),
    Evaluation([0.1], [6], [], 20),
    Evaluation([5.0, 6.0, 7.0], [7, 8, 9], [1.0], 30),
]


@pytest.mark.parametrize("history", [[], MIXED], ids=["none", "several"])
def test_a_checkpoint_keeps_every_evaluation(history: list[Evaluation], tmp_path: Path) -> None:
    files = ZipSerializer()
    files.write(tmp_path / "c.zip", {"history": packed(history)})
    assert unpacked(files.read(tmp_path / "c.zip")["history"]) == history


def test_a_checkpoint_keeps_the_evaluations_of_the_longest_runs(tmp_path: Path) -> None:
    callback = EvaluationCallback()
    history = [Evaluation([1.5] * 100, [200] * 100, [], at) for at in range(5000)]
    callback._history = history
    files = ZipSerializer()
    files.write(tmp_path / "c.zip", {"evaluation": callback.rlk_save()})
    found: Any = files.read(tmp_path / "c.zip")["evaluation"]
    assert unpacked(found["history"]) == history
