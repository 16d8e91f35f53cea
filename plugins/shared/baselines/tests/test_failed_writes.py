"""What was saved before stays as it is if it cannot be written again, as on a full disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import small_ppo

from rlk_baselines import logger
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.callbacks import EvalCallback
from rlk_baselines.common.vec_env import VecNormalize
from rlk_testing.tools.faults import full_disk


def saved_model(folder: Path) -> Callable[[], Any]:
    model = small_ppo()
    return lambda: model.save(folder / "model.pkl", cloudpickle=True)


def saved_statistics(folder: Path) -> Callable[[], Any]:
    vector = VecNormalize(make_vec_env("CartPole-v1"))
    return lambda: vector.save(str(folder / "vector.pkl"))


def saved_averages(folder: Path) -> Callable[[], Any]:
    vector = VecNormalize(make_vec_env("CartPole-v1"))
    return lambda: vector.save_running_average(str(folder))


def saved_evaluations(folder: Path) -> Callable[[], Any]:
    callback = EvalCallback(make_vec_env("CartPole-v1"), log_path=str(folder))
    return lambda: callback._log([1.0], [2])


@pytest.mark.parametrize(
    "saved", [saved_model, saved_statistics, saved_averages, saved_evaluations]
)
def test_a_file_that_cannot_be_written_again_stays_as_it_is(saved: Any, tmp_path: Path) -> None:
    save = saved(tmp_path)
    save()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with full_disk(), pytest.raises(OSError):
        save()
    assert before and {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_table_keeps_its_rows_if_a_column_cannot_be_added(tmp_path: Path) -> None:
    table = logger.CSVOutputFormat(str(tmp_path / "progress.csv"))
    table.writekvs({"a": 1, "b": "x,y"})
    with full_disk(), pytest.raises(OSError):
        table.writekvs({"a": 2, "c": 3})
    assert (tmp_path / "progress.csv").read_text() == 'a,b\n1,"x,y"\n'
    table.writekvs({"a": 2, "c": 3})
    assert (tmp_path / "progress.csv").read_text() == 'a,b,c\n1,"x,y",\n2,,3\n'


def test_a_pickle_is_written_into_a_new_folder_like_a_zip(tmp_path: Path) -> None:
    small_ppo().save(tmp_path / "new" / "model", cloudpickle=True)
    assert (tmp_path / "new" / "model.pkl").is_file()


def test_evaluations_are_read_by_numpy(tmp_path: Path) -> None:
    saved_evaluations(tmp_path)()
    with np.load(tmp_path / "evaluations.npz") as found:
        assert found["results"].tolist() == [[1.0]] and found["ep_lengths"].tolist() == [[2]]
