"""Reading monitor files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlk_wrappers import LoadMonitorResultsError, get_monitor_files, load_results

#: Environment variables with which Python reads text as ASCII unless told otherwise.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FIRST = '#{"t_start": 100.0, "env_id": "A-v0"}\nr,l,t,goal\n1.5,10,2.0,north\n2.5,20,9.0,south\n'
SECOND = '#{"t_start": 103.0, "env_id": "A-v0"}\nr,l,t\n7.0,30,1.0\n'


def test_files_are_found_by_their_suffix(tmp_path: Path) -> None:
    for name in ("b.monitor.csv", "monitor.csv", "progress.csv"):
        (tmp_path / name).write_text(SECOND)
    found = [Path(file).name for file in get_monitor_files(tmp_path)]
    assert found == ["b.monitor.csv", "monitor.csv"]


def test_episodes_of_several_files_come_in_the_order_they_ended(tmp_path: Path) -> None:
    (tmp_path / "0.monitor.csv").write_text(FIRST)
    (tmp_path / "1.monitor.csv").write_text(SECOND)
    found = load_results(tmp_path)
    # The second file was begun three seconds later.
    assert found["t"].tolist() == [2.0, 4.0, 9.0]
    assert found["r"].tolist() == [1.5, 7.0, 2.5]
    assert found["l"].tolist() == [10, 30, 20]
    assert found["l"].dtype == np.int64


def test_whole_numbers_are_read_as_what_the_column_is_and_ties_keep_their_order(
    tmp_path: Path,
) -> None:
    """Episodes that end in the same step end at the same time."""
    rows = "".join(f"{number},{number},{number % 2}\n" for number in range(1000))
    (tmp_path / "monitor.csv").write_text(SECOND.partition("7.0")[0] + rows)
    found = load_results(tmp_path)
    assert [found[key].dtype for key in "rlt"] == [np.float64, np.int64, np.float64]
    assert found["r"].tolist() == found["l"].tolist() == [*range(0, 1000, 2), *range(1, 1000, 2)]


def test_other_columns_are_text_where_they_are_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "monitor.csv").write_text(FIRST)
    assert load_results(tmp_path)["goal"].tolist() == ["north", "south"]


def test_booleans_and_whole_numbers_are_read_as_what_they_were(tmp_path: Path) -> None:
    rows = f"1.5,10,2.0,True,{2**60 + 1},0.5,True\n2.5,20,9.0,False,3,1,other\n"
    text = '#{"t_start": 100.0, "env_id": "A-v0"}\nr,l,t,won,seed,share,mixed\n' + rows
    (tmp_path / "0.monitor.csv").write_text(text)
    (tmp_path / "1.monitor.csv").write_text("".join(text.splitlines(keepends=True)[:2]))  # begun
    found = load_results(tmp_path)
    kinds = {key: column.dtype.kind for key, column in found.items() if key not in "rlt"}
    assert kinds == {"won": "b", "seed": "i", "share": "f", "mixed": "U"}
    assert found["won"].tolist() == [True, False]
    assert found["seed"].tolist() == [2**60 + 1, 3]
    (tmp_path / "2.monitor.csv").write_text(SECOND)
    joined = load_results(tmp_path)["won"]
    assert np.array_equal(joined, [1.0, np.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize(
    ("of_first", "of_second", "expected"),
    [
        ("7", "hard", ["7", "hard"]),
        ("7.50", "hard", ["7.50", "hard"]),
        ("True", "2", ["True", "2"]),
        ("False", "0.5", ["False", "0.5"]),
        ("", "hard", ["", "hard"]),
        ("7", "0.5", [7.0, 0.5]),
        ("", "7", [np.nan, 7.0]),
    ],
)
def test_all_files_decide_the_type_of_a_column_together(
    tmp_path: Path, of_first: str, of_second: str, expected: list[Any]
) -> None:
    for number, level in enumerate((of_first, of_second)):
        text = f'#{{"t_start": 1.0, "env_id": "A-v0"}}\nr,l,t,level\n1.0,2,{number},{level}\n'
        (tmp_path / f"{number}.monitor.csv").write_text(text)
    found = load_results(tmp_path)["level"]
    assert found.dtype == np.array(expected).dtype
    assert found.tolist() == pytest.approx(expected, nan_ok=True)


def test_a_column_that_not_all_files_have_is_empty_in_the_others(tmp_path: Path) -> None:
    for folder in ("text", "numbers"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.monitor.csv").write_text(SECOND)
    (tmp_path / "text" / "0.monitor.csv").write_text(FIRST)
    numbers = FIRST.replace("north", "1").replace("south", "2")
    (tmp_path / "numbers" / "2.monitor.csv").write_text(numbers)
    assert load_results(tmp_path / "text")["goal"].tolist() == ["north", "", "south"]
    found = load_results(tmp_path / "numbers")["goal"]
    assert np.array_equal(found, [1.0, np.nan, 2.0], equal_nan=True)


def test_the_old_files_of_json_are_read(tmp_path: Path) -> None:
    header = '{"t_start": 100.0, "gym_version": "0.9", "env_id": "A-v0"}\n'
    first = '{"r": 1.5, "l": 10, "t": 2.0, "goal": "north"}\n'
    second = '{"r": 2.5, "l": 20, "t": 9.0, "goal": ""}\n'
    (tmp_path / "0.monitor.json").write_text(header + first + second + '{"r": 8')
    (tmp_path / "1.monitor.csv").write_text(SECOND)
    found = load_results(tmp_path)
    assert found["r"].tolist() == [1.5, 7.0, 2.5] and found["l"].tolist() == [10, 30, 20]
    assert found["t"].tolist() == [2.0, 4.0, 9.0]
    assert found["goal"].tolist() == ["north", "", ""]
    (tmp_path / "1.monitor.csv").unlink()
    (tmp_path / "0.monitor.json").write_text(header)
    assert load_results(tmp_path)["r"].tolist() == []


def test_a_row_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "monitor.csv").write_text(SECOND + "8.0,4")
    assert load_results(tmp_path)["r"].tolist() == [7.0]


def test_a_file_without_episodes_gives_empty_columns(tmp_path: Path) -> None:
    (tmp_path / "monitor.csv").write_text('#{"t_start": 1.0, "env_id": null}\nr,l,t\n')
    assert {key: len(values) for key, values in load_results(tmp_path).items()} == {
        "r": 0,
        "l": 0,
        "t": 0,
    }


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LoadMonitorResultsError, match="no monitor files"):
        load_results(tmp_path)


@pytest.mark.parametrize("text", ["", "r,l,t\n1,2,3\n", '#{"t_start": 1.0}\nr,l\n1,2\n', "#{}\n"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "monitor.csv").write_text(text)
    with pytest.raises(LoadMonitorResultsError, match=r"monitor\.csv is not a monitor file"):
        load_results(tmp_path)


def test_texts_are_in_utf_8_whatever_the_locale_is(tmp_path: Path) -> None:
    (tmp_path / "monitor.csv").write_text(FIRST.replace("north", "nördlich"), encoding="utf-8")
    read = (
        "import sys, rlk_wrappers as w; print(ascii(w.load_results(sys.argv[1])['goal'].tolist()))"
    )
    command = [sys.executable, "-c", read, str(tmp_path)]
    found = subprocess.run(command, env={**os.environ, **ASCII}, capture_output=True, check=True)
    assert found.stdout.decode().strip() == r"['n\xf6rdlich', 'south']"
