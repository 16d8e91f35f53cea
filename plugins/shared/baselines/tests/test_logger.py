"""The logger by itself: files of several ranks, and what its files are read as."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from rlk_baselines import logger


@pytest.fixture(autouse=True)
def _reset(monkeypatch):
    for name in ("OPENAI_LOG_FORMAT", "OPENAI_LOG_FORMAT_MPI"):
        monkeypatch.delenv(name, raising=False)
    yield
    logger.reset()


def test_every_rank_writes_files_of_its_own(monkeypatch, tmp_path: Path) -> None:
    logger.configure(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "progress.csv"]
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    logger.configure(str(tmp_path / "other"))
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["log-rank002.txt"]
    monkeypatch.setenv("OPENAI_LOG_FORMAT_MPI", "json")
    for formats in (None, ["json"]):
        logger.configure(str(tmp_path / "json"), formats)
        assert [path.name for path in (tmp_path / "json").iterdir()] == ["progress-rank002.json"]


def test_an_array_of_one_number_is_a_number_in_json(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["json"])
    row = {"a": np.array(1), "b": np.array([[2.5]]), "c": np.array([1, 2]), "d": [1], "e": "x"}
    logger.logkvs(row)
    logger.dumpkvs()
    found = json.loads((tmp_path / "progress.json").read_text())
    assert found == {"a": 1, "b": 2.5, "c": [1, 2], "d": [1], "e": "x"}


def test_a_row_is_in_the_files_at_once_and_has_a_cell_for_every_key(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["log", "csv"])
    for row in ({"a": 1}, {"a": 2}, {"b": 3}):
        logger.logkvs(row)
        logger.dumpkvs()
    assert (tmp_path / "progress.csv").read_text() == "a,b\n1,\n2,\n,3\n"
    lines = (tmp_path / "log.txt").read_text().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows == ["| a | 1 |", "| a | 2 |", "| b | 3 |"]


def test_a_csv_file_keeps_its_rows_on_the_disk_alone(tmp_path: Path) -> None:
    table = logger.CSVOutputFormat(str(tmp_path / "progress.csv"))
    sizes = []
    for i in range(100):
        table.writekvs({"a": i, "b": "x\ny"})
        sizes.append(len(pickle.dumps(vars(table))))
    assert sizes[0] == sizes[-1]
    table.writekvs({"c": 1.5})
    found = logger.read_csv(str(tmp_path / "progress.csv"))
    assert found["a"].tolist()[:100] == list(range(100)) and found["c"].tolist()[100] == 1.5
    assert found["b"].tolist()[:100] == ["x\ny"] * 100 and found["c"][:100].isna().all()


def test_a_csv_file_that_was_deleted_begins_with_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    table = logger.CSVOutputFormat(str(file))
    table.writekvs({"a": 1})
    file.unlink()
    table.writekvs({"a": 2})
    assert file.read_text() == "a\n2\n"


def test_a_table_has_three_digits_and_at_most_23_characters_of_a_text(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["log"])
    logger.logkvs({"k" * 23: 1.23456, "l" * 24: "v" * 30})
    logger.dumpkvs()
    lines = (tmp_path / "log.txt").read_text().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows == [f"| {'k' * 23} | {'1.23':<23} |", f"| {'l' * 20}... | {'v' * 20}... |"]


def test_a_mean_is_of_its_own_row_and_none_clears_it(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["json"])
    for row in ([1.0, 2.0, 6.0], [5.0], [7.0, None]):
        for value in row:
            logger.logkv_mean("a", value)
        logger.dumpkvs()
    rows = (tmp_path / "progress.json").read_text().splitlines()
    assert [json.loads(row)["a"] for row in rows] == [3.0, 5.0, None]


def test_disabled_is_a_level_that_writes_neither_text_nor_rows(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["log", "csv"])
    before = (tmp_path / "log.txt").read_text()
    logger.set_level(logger.DISABLED)
    logger.error("text")
    logger.logkv("a", 1)
    logger.dumpkvs()
    assert (tmp_path / "log.txt").read_text() == before
    assert (tmp_path / "progress.csv").read_text() == ""


def test_a_reset_closes_the_files(tmp_path: Path) -> None:
    logger.configure(str(tmp_path), ["log"])
    (table,) = logger.Logger.CURRENT.output_formats
    assert not table.file.closed
    logger.reset()
    assert table.file.closed
