"""Rows and columns that are added to CSV files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from rlk_loggers.csv_rows import add_rows, as_csv
from rlk_testing.faults import full_disk


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def test_a_file_begins_with_its_columns(file: Path) -> None:
    add_rows(file, b"1,2\n", ["a", "b"], 0)
    assert file.read_text() == "a,b\n1,2\n"


def test_a_file_that_is_gone_begins_with_all_columns(file: Path) -> None:
    add_rows(file, b"1,2\n", ["a", "b"], 2)
    assert file.read_text() == "a,b\n1,2\n"


def test_rows_are_added_to_the_file_that_is_there(file: Path) -> None:
    add_rows(file, b"1\n", ["a"], 0)
    before = file.stat().st_ino
    add_rows(file, b"2\n3\n", ["a"], 1)
    assert (file.read_text(), file.stat().st_ino) == ("a\n1\n2\n3\n", before)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_column_is_added_to_all_rows(file: Path, ending: str) -> None:
    file.write_bytes(f"a{ending}1{ending}2{ending}".encode())
    add_rows(file, b"3,x,y\n", ["a", "b,c", "d"], 1)
    assert file.read_text() == 'a,"b,c",d\n1,,\n2,,\n3,x,y\n'


def test_a_cell_of_several_lines_stays_one_cell(file: Path) -> None:
    columns = ["a\nb", "c"]
    there = [['one "line"\nand "another', "x"], ["", 'y"\n"\nz']]
    add_rows(file, as_csv(there), columns, 0)
    add_rows(file, as_csv([["1", "2", "3"]]), [*columns, "d"], 2)
    with file.open(newline="") as opened:
        found = list(csv.reader(opened))
    assert found == [[*columns, "d"], [*there[0], ""], [*there[1], ""], ["1", "2", "3"]]


@pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
def test_a_file_stays_as_it_is_if_nothing_can_be_added(file: Path, columns: list[str]) -> None:
    add_rows(file, b"1\n", ["a"], 0)
    with full_disk(), pytest.raises(OSError, match="too large"):
        add_rows(file, b"2,3\n", columns, 1)
    assert file.read_text() == "a\n1\n"
    assert list(file.parent.iterdir()) == [file]
