"""progress.csv: growing columns and resumed runs."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlk import growing_file
from rlk.errors import BadFile
from rlk.growing_file import GrowingFile
from rlk_loggers import csv_file, csv_rows
from rlk_loggers.csv_file import CsvLogger

#: Environment variables with which Python reads text as ASCII unless told otherwise.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


class StandInRun:
    """What the logger uses of a run."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


class Opened:
    """The logger in a run."""

    def __init__(self, out: Path, timesteps: int = 0, rank: int = 0, state: Any = None) -> None:
        ranks = SimpleNamespace(rank=rank)
        self.run: Any = StandInRun(out=out, timesteps=timesteps, communicator=ranks, on_close=[])
        self.logger = CsvLogger()
        if state is not None:
            self.logger.rlk_load(self.run, state)
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


def rows(out: Path) -> list[dict[str, Any]]:
    with (out / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_can_be_read_at_once(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"rollout/ep_rew_mean": 1.5})
    assert rows(tmp_path) == [{"time/total_timesteps": "8", "rollout/ep_rew_mean": "1.5"}]
    logger.close()


def test_new_tags_become_columns_and_old_rows_stay(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    logger.write(16, {"b": 2.0})
    logger.write(24, {"a": 3.0})
    logger.close()
    assert [(row["time/total_timesteps"], row["a"], row["b"]) for row in rows(tmp_path)] == [
        ("8", "1.0", ""),
        ("16", "", "2.0"),
        ("24", "3.0", ""),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["progress.csv"]


def test_a_resumed_run_goes_on_below_its_checkpoint(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": float(timesteps)})
    first.close()
    second = Opened(tmp_path, timesteps=16)
    second.write(20, {"a": 20.0, "b": 1.0})
    second.close()
    assert [row["a"] for row in rows(tmp_path)] == ["8.0", "16.0", "20.0"]


def test_a_resumed_run_keeps_the_rows_of_earlier_calls_of_learn(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": 1.0})
    first.write(8, {"a": 2.0})
    saved = first.logger.rlk_save(first.run)
    first.write(16, {"a": 2.0})
    for state, kept in ((saved, 4), (None, 4)):  # None: they are not known
        second = Opened(tmp_path, timesteps=8, state=state)
        assert len(rows(tmp_path)) == kept
        second.write(16, {"a": 3.0})
    assert second.logger.rlk_save(second.run) == {"rows": 5, "timesteps": 16}


def test_a_run_that_counts_from_0_again_keeps_all_rows(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16):
        first.write(timesteps, {"a": 1.0})
    saved = first.logger.rlk_save(first.run)
    first.write(24, {"a": 1.0})
    assert CsvLogger().rlk_save(first.run) is None  # before it begins, it does not know
    Opened(tmp_path)  # of a model
    assert len(rows(tmp_path)) == 3
    Opened(tmp_path, state=saved)
    assert len(rows(tmp_path)) == 2


def test_a_checkpoint_before_the_first_row_drops_all(tmp_path: Path) -> None:
    first = Opened(tmp_path, timesteps=8)
    saved = first.logger.rlk_save(first.run)
    first.write(8, {"a": 1.0})
    Opened(tmp_path, timesteps=8, state=saved)
    assert rows(tmp_path) == []


def test_a_checkpoint_that_continues_in_a_new_folder_counts_its_rows(tmp_path: Path) -> None:
    logger = Opened(tmp_path, timesteps=8, state={"rows": 7, "timesteps": 56})
    logger.write(16, {"a": 1.0})
    assert logger.logger.rlk_save(logger.run) == {"rows": 1, "timesteps": 16}


def test_a_row_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,a\n8,1.0\n16,2")
    logger = Opened(tmp_path, timesteps=100)
    logger.write(24, {"a": 3.0})
    logger.close()
    assert [row["a"] for row in rows(tmp_path)] == ["1.0", "3.0"]


def test_a_resumed_run_that_logs_nothing_more_keeps_what_there_is(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    first.write(8, {"a": 1.0})
    first.close()
    Opened(tmp_path, timesteps=8).close()
    assert len(rows(tmp_path)) == 1


def test_without_a_folder_it_says_what_to_type() -> None:
    plan: Any = SimpleNamespace(out=None)
    problem = CsvLogger().rlk_check_plan(plan)
    assert problem is not None and "'csv'" in problem and "--out" in problem


def test_a_second_training_goes_on_in_the_same_file(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    logger.logger.rlk_training_start(logger.run)
    logger.write(16, {"a": 2.0})
    assert [row["a"] for row in rows(tmp_path)] == ["1.0", "2.0"]
    logger.close()


def test_what_could_not_be_written_is_written_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = Opened(tmp_path)
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "begin", full)
        with pytest.raises(OSError, match="no space"):
            logger.write(8, {"a": 1.0})
    logger.logger.rlk_training_start(logger.run)  # of a second training
    logger.logger.rlk_training_end(logger.run)
    assert [row["a"] for row in rows(tmp_path)] == ["1.0"]
    assert logger.logger.rlk_save(logger.run) == {"rows": 1, "timesteps": 8}


def test_a_file_that_could_not_be_cut_at_the_start_is_cut_for_the_first_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": float(timesteps)})
    second = Opened(tmp_path, timesteps=16, rank=1)  # which begins nothing
    second.logger.rlk_load(second.run, {"rows": 2, "timesteps": 16})
    second.run.communicator.rank = 0
    with monkeypatch.context() as while_full:
        while_full.setattr(os, "truncate", full)
        with pytest.raises(OSError, match="no space"):
            second.logger.rlk_training_start(second.run)
        assert second.logger.rlk_save(second.run) is None, "what the file holds is not known"
    monkeypatch.setattr(growing_file, "REST_SECONDS", 0.0)
    second.write(32, {"a": 32.0})
    assert [row["a"] for row in rows(tmp_path)] == ["8.0", "16.0", "32.0"]
    assert second.logger.rlk_save(second.run) == {"rows": 3, "timesteps": 32}


class FullDisk:
    """A disk without space, which counts the attempts to write a file's rows."""

    def __init__(self) -> None:
        self.attempts = 0

    def __call__(self, *_: Any) -> None:
        self.attempts += 1
        raise OSError("no space left")


def test_a_full_disk_costs_little_time_however_many_rows_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, formatted = FullDisk(), list[Any]()

    def as_csv(rows: Any) -> bytes:
        rows = list(rows)
        formatted.extend(rows)
        return csv_rows.as_csv(rows)

    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", disk)
        with pytest.raises(OSError, match="no space"):
            logger.write(16, {"a": 2.0})
        for timesteps in range(24, 104, 8):
            logger.write(timesteps, {"a": 3.0})  # it rests, so it raises nothing
        assert disk.attempts == 1
        while_full.setattr(growing_file, "REST_SECONDS", 0.0)
        while_full.setattr(csv_file, "as_csv", as_csv)
        for timesteps in (104, 112):
            with pytest.raises(OSError, match="no space"):
                logger.write(timesteps, {"a": 4.0})
        assert disk.attempts == 3
        assert len(formatted) == 12, "those that waited for the second attempt, and the last one"
    logger.logger.rlk_training_end(logger.run)
    assert [row["a"] for row in rows(tmp_path)] == ["1.0", "2.0", *["3.0"] * 10, "4.0", "4.0"]


def test_new_tags_of_rows_that_wait_become_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_file, "REST_SECONDS", 0.0)
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        while_full.setattr(csv_rows, "replacing", full)
        for row in ({"a": 2.0}, {"b": 3.0}):
            with pytest.raises(OSError, match="no space"):
                logger.write(16, row)
    logger.write(24, {"c": 4.0, "a": 5.0})
    text = (tmp_path / "progress.csv").read_text()
    assert text == "time/total_timesteps,a,b,c\n8,1.0,,\n16,2.0,,\n16,,3.0,\n24,5.0,,4.0\n"


def test_rows_that_wait_are_written_with_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    with monkeypatch.context() as while_full:
        while_full.setattr(GrowingFile, "write", full)
        with pytest.raises(OSError, match="no space"):
            logger.write(16, {"a": 2.0})
        saved = {"rows": 2, "timesteps": 16}
        assert logger.logger.rlk_save(logger.run) == saved, "a checkpoint may fit elsewhere"
    assert len(rows(tmp_path)) == 1
    assert logger.logger.rlk_save(logger.run) == saved
    assert len(rows(tmp_path)) == 2


def test_a_resumed_run_cuts_its_file_without_a_copy(tmp_path: Path) -> None:
    first = Opened(tmp_path)
    for timesteps in (8, 16, 24):
        first.write(timesteps, {"a": 1.0})
    file = tmp_path / "progress.csv"
    before = file.stat().st_ino
    for state in ({"rows": 2, "timesteps": 16}, None):
        Opened(tmp_path, timesteps=16, state=state)
        assert file.stat().st_ino == before
        assert file.read_text() == "time/total_timesteps,a\n8,1.0\n16,1.0\n"


def test_other_ranks_write_nothing(tmp_path: Path) -> None:
    logger = Opened(tmp_path, rank=1)
    logger.write(8, {"a": 1.0})
    logger.close()
    assert list(tmp_path.iterdir()) == []


def test_tags_are_in_utf_8_whatever_the_locale_is(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"größe": 1.0})
    read = "import sys, pathlib; from rlk_loggers import csv_file as module; "
    read += "print(ascii(next(module._whole_rows(pathlib.Path(sys.argv[1])))[0]))"
    command = [sys.executable, "-c", read, str(tmp_path / "progress.csv")]
    found = subprocess.run(command, env={**os.environ, **ASCII}, capture_output=True, check=True)
    assert found.stdout.decode().strip() == r"['time/total_timesteps', 'gr\xf6\xdfe']"


def test_a_run_that_is_saved_before_it_trains_keeps_the_number_of_its_rows(tmp_path: Path) -> None:
    run: Any = StandInRun(out=tmp_path)
    logger = CsvLogger()
    assert logger.rlk_save(run) is None
    state = {"rows": 3, "timesteps": 24}
    logger.rlk_load(run, state)
    assert logger.rlk_save(run) == state


def test_a_file_that_was_deleted_begins_with_its_columns(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    (tmp_path / "progress.csv").unlink()
    logger.write(16, {"a": 2.0})
    assert rows(tmp_path) == [{"time/total_timesteps": "16", "a": "2.0"}]


def test_the_rows_of_a_file_that_was_rotated_away_are_counted_no_more(tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    first = Opened(tmp_path)
    for timesteps in (8, 16):
        first.write(timesteps, {"a": 1.0})
    saved_before = first.logger.rlk_save(first.run)
    file.rename(tmp_path / "progress.csv.1")
    for timesteps in (24, 32):
        first.write(timesteps, {"a": 1.0})
    saved = first.logger.rlk_save(first.run)
    assert saved == {"rows": 2, "timesteps": 32}
    for timesteps in (40, 48):
        first.write(timesteps, {"a": 1.0})
    Opened(tmp_path, timesteps=32, state=saved)
    assert [row["time/total_timesteps"] for row in rows(tmp_path)] == ["24", "32"]
    Opened(tmp_path, timesteps=16, state=saved_before)  # the file was begun after it
    assert file.read_text() == "time/total_timesteps,a\n"


def test_a_resumed_run_that_has_logged_nothing_is_saved_with_the_timesteps_of_its_last_row(
    tmp_path: Path,
) -> None:
    first = Opened(tmp_path)
    first.write(8, {"a": 1.0})
    second = Opened(tmp_path, timesteps=8, state=first.logger.rlk_save(first.run))
    saved = second.logger.rlk_save(second.run)
    (tmp_path / "progress.csv").rename(tmp_path / "progress.csv.1")
    second.write(16, {"a": 1.0})
    Opened(tmp_path, timesteps=8, state=saved)
    assert rows(tmp_path) == [], "as many rows as at the checkpoint, but others"


def test_a_file_without_the_column_of_timesteps_is_refused_and_left_as_it_is(
    tmp_path: Path,
) -> None:
    file = tmp_path / "progress.csv"
    file.write_text("8,1.0\n16,2.0\n")  # its first line was lost
    with pytest.raises(BadFile, match="does not name the column time/total_timesteps"):
        Opened(tmp_path, timesteps=16)
    assert file.read_text() == "8,1.0\n16,2.0\n"


def test_a_file_that_was_emptied_begins_with_its_columns(tmp_path: Path) -> None:
    logger = Opened(tmp_path)
    logger.write(8, {"a": 1.0})
    os.truncate(tmp_path / "progress.csv", 0)
    logger.write(16, {"a": 2.0})
    assert rows(tmp_path) == [{"time/total_timesteps": "16", "a": "2.0"}]
    assert logger.logger.rlk_save(logger.run) == {"rows": 1, "timesteps": 16}


def test_a_resumed_run_keeps_columns_that_its_rows_do_not_have(tmp_path: Path) -> None:
    Opened(tmp_path).write(8, {"a": 1.0})
    Opened(tmp_path, timesteps=8).write(16, {"b": 2.0})
    text = (tmp_path / "progress.csv").read_bytes()
    assert text == b"time/total_timesteps,a,b\n8,1.0,\n16,,2.0\n"


def test_a_file_that_was_cut_off_in_its_columns_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_re")
    Opened(tmp_path).write(8, {"a": 1.0})
    assert rows(tmp_path) == [{"time/total_timesteps": "8", "a": "1.0"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"100,1\n20x,2\n", "column time/total_timesteps holds '20x', not a number"),
        (b"8,1.0,2.0\n", "row of time/total_timesteps=8 has more cells than columns"),
        (b"8,\xff\n", "can't decode byte 0xff"),
        (b'8,"' + b"1" * 200_000 + b'"\n', "field larger than field limit"),
    ],
)
def test_a_damaged_file_is_named_and_left_as_it_is(
    tmp_path: Path, text: bytes, problem: str
) -> None:
    file = tmp_path / "progress.csv"
    file.write_bytes(b"time/total_timesteps,a\n" + text)
    with pytest.raises(BadFile, match=f"{file} is damaged: .*{problem}.*Move it elsewhere"):
        Opened(tmp_path, timesteps=50)
    assert file.read_bytes().endswith(text)
