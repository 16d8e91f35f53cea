"""The file of all evaluations of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlk.errors import BadFile
from rlk_callbacks.history import read_history, write_history
from rlk_evaluate.evaluate import Evaluation


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    history = [Evaluation([1.0, 2.0], [3, 4], [], 10), Evaluation([5.0], [6], [], 20)]
    write_history(tmp_path / "e.npz", history)
    assert read_history(tmp_path / "e.npz") == history
    history = [Evaluation([1.0, 2.0], [3, 4], [True, False], 10)]
    write_history(tmp_path / "e.npz", history)
    assert read_history(tmp_path / "e.npz") == history
    assert read_history(tmp_path / "none.npz") == []
    np.savez(tmp_path / "bad.npz", timesteps=np.zeros(3), results=np.zeros((2, 5)))
    with pytest.raises(BadFile, match=r"bad\.npz is damaged: .* Move it elsewhere"):
        read_history(tmp_path / "bad.npz")


def test_rows_of_unequal_length_end_in_nan(tmp_path: Path) -> None:
    history = [
        Evaluation([1.0, 2.0], [3, 4], [True, False], 10),
        Evaluation([5.0], [6], [True], 20),
    ]
    write_history(tmp_path / "e.npz", history)
    with np.load(tmp_path / "e.npz") as kept:
        assert kept["results"][0].tolist() == [1.0, 2.0]
        assert kept["results"][1, 0] == 5.0
        assert np.isnan(kept["results"][1, 1])
        assert kept["ep_lengths"].tolist() == [[3, 4], [6, 0]]
        assert "successes" not in kept
