"""Rows and columns that are added to CSV files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from rlk.growing_file import GrowingFile
from rlk_loggers.csv_rows import add_rows, as_csv
from rlk_testing.tools.faults import disk_gone_after, full_disk


@pytest.fixture
def file(tmp_path: Path) -> GrowingFile:
    return GrowingFile(tmp_path / "rows.csv")


def test_a_file_begins_with_its_columns(file: GrowingFile) -> None:
    add_rows(file, b"1,2\n", ["a", "b"], 0)
    assert file.path.read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("n_there", [1, 2])
@pytest.mark.parametrize("is_emptied", [True, False])
def test_a_file_that_is_gone_or_was_emptied_begins_with_all_columns(
    file: GrowingFile, n_there: int, is_emptied: bool
) -> None:
    if is_emptied:
        file.path.touch()
    assert add_rows(file, b"1,2\n", ["a", "b"], n_there)
    assert file.path.read_text() == "a,b\n1,2\n"
    assert not add_rows(file, b"3,4\n", ["a", "b"], 2)


def test_rows_are_added_to_the_file_that_is_there(file: GrowingFile) -> None:
    add_rows(file, b"1\n", ["a"], 0)
    before = file.path.stat().st_ino
    add_rows(file, b"2\n3\n", ["a"], 1)
    assert (file.path.read_text(), file.path.stat().st_ino) == ("a\n1\n2\n3\n", before)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_column_is_added_to_all_rows(file: GrowingFile, ending: str) -> None:
    file.path.write_bytes(f"a{ending}1{ending}2{ending}".encode())
    add_rows(file, b"3,x,y\n", ["a", "b,c", "d"], 1)
    assert file.path.read_text() == 'a,"b,c",d\n1,,\n2,,\n3,x,y\n'


def test_a_cell_of_several_lines_stays_one_cell(file: GrowingFile) -> None:
    columns = ["a\nb", "c"]
    there = [['one "line"\nand "another', "x"], ["", 'y"\n"\nz']]
    add_rows(file, as_csv(there), columns, 0)
    add_rows(file, as_csv([["1", "2", "3"]]), [*columns, "d"], 2)
    with file.path.open(newline="") as opened:
        found = list(csv.reader(opened))
    assert found == [[*columns, "d"], [*there[0], ""], [*there[1], ""], ["1", "2", "3"]]


@pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
def test_a_file_stays_as_it_is_if_nothing_can_be_added(
    file: GrowingFile, columns: list[str]
) -> None:
    add_rows(file, b"1\n", ["a"], 0)
    with full_disk(), pytest.raises(OSError, match="too large"):
        add_rows(file, b"2,3\n", columns, 1)
    assert file.path.read_text() == "a\n1\n"
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_column_is_not_added_to_a_part_of_a_row(file: GrowingFile) -> None:
    add_rows(file, b"1\n", ["a"], 0)
    with disk_gone_after(4), pytest.raises(OSError, match="tale file handle"):
        add_rows(file, b"333333\n", ["a"], 1)
    assert file.path.read_text() == "a\n1\n3333"
    add_rows(file, b"333333,\n2,x\n", ["a", "b"], 1)
    assert file.path.read_text() == "a,b\n1,\n333333,\n2,x\n"
