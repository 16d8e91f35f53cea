"""Reads monitor files back."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk.records import Array
from rlk_wrappers.episode_file import SUFFIX

_OLD_SUFFIX = "monitor.json"
_DAMAGES = (
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
    csv.Error,
)


class LoadMonitorResultsError(RlkError):
    """A folder has no monitor files, or a file is not a monitor file."""


def get_monitor_files(path: str | os.PathLike[str]) -> list[str]:
    """The monitor files in a folder, by name."""
    return sorted(str(found) for found in Path(path).glob(f"*{SUFFIX}"))


def load_results(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The episodes of all monitor files in a folder, in the order in which they ended.

    Old files in JSON (`*monitor.json`) can be read, too. Deviation from Stable Baselines 2.10: it
    returns a dict of arrays instead of a pandas DataFrame (`pandas.DataFrame(load_results(p))`
    makes one).

    Returns:
        `r` float64 [E], `l` int64 [E], `t` float64 [E], seconds since the start of the earliest
        file, and every other column of a file: bool if all of its values are True or False, int64
        if all are whole numbers, float64 if all are numbers, else str. An empty cell, or that of an
        episode of a file without the column, is an empty string in a str column; else it is NaN,
        and the column float64.

    Raises:
        LoadMonitorResultsError: if there is no such file, or one is damaged.
    """
    files = get_monitor_files(path) + sorted(map(str, Path(path).glob(f"*{_OLD_SUFFIX}")))
    if not files:
        raise LoadMonitorResultsError(f"no monitor files (*{SUFFIX}) in {path}.")
    read = [_read(Path(file)) for file in files]
    start = min(header["t_start"] for header, _ in read)
    for header, columns in read:
        columns["t"] = columns["t"] + (header["t_start"] - start)
    tables = [columns for _, columns in read]
    joined = {name: _joined(name, tables) for name in dict.fromkeys(chain.from_iterable(tables))}
    order = np.argsort(joined["t"], kind="stable")
    return {key: values[order] for key, values in joined.items()}


def _joined(name: str, tables: Sequence[Mapping[str, Array]]) -> Array:
    """A column of all tables, concatenated."""
    is_text = any(name in table and table[name].dtype.kind == "U" for table in tables)
    none = "" if is_text else np.nan
    parts = [table.get(name, np.full(len(table["t"]), none)) for table in tables]
    # The type of an empty part is unknown, and would be that of the whole.
    return np.concatenate([part for part in parts if len(part)] or parts[:1])


def read_monitor_file(path: str | os.PathLike[str]) -> tuple[Mapping[str, Any], dict[str, Array]]:
    """One file: (header, columns), as in `load_results`.

    Raises:
        LoadMonitorResultsError: if it is damaged.
    """
    return _read(Path(path))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        text = path.read_text(encoding="utf-8")
        # A row that is still being written does not end with a newline.
        first, *lines = text[: text.rfind("\n") + 1].splitlines()
        header = parse_json(first.removeprefix("#"))
        of_file = _of_json if path.name.endswith(_OLD_SUFFIX) else _of_csv
        columns = {name: _column(values) for name, values in of_file(lines).items()}
        numbers = {name: columns[name].astype(np.float64) for name in ("r", "l", "t")}
        if not np.all(numbers["l"] >= 0) or not np.all(numbers["l"] < 2**62):
            raise ValueError("an episode's length must be a whole number")
        start, timesteps = float(header["t_start"]), int(header.get("timesteps", 0))
        return (
            {"t_start": start, "env_id": header.get("env_id"), "timesteps": timesteps},
            columns | numbers | {"l": numbers["l"].astype(np.int64)},
        )
    except _DAMAGES as error:
        raise LoadMonitorResultsError(
            f"{path} is not a monitor file: {type(error).__name__}: {error}."
        ) from None


def _of_csv(lines: list[str]) -> dict[str, list[Any]]:
    names, *rows = csv.reader(lines)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _of_json(lines: list[str]) -> dict[str, list[Any]]:
    """The columns of an old file of Stable Baselines in JSON, in which a row is a dict."""
    rows = [parse_json(line) for line in lines]
    names = list(rows[0]) if rows else ["r", "l", "t"]
    return {name: [row[name] for row in rows] for name in names}


def _column(values: list[Any]) -> Array:
    """Values as numbers if those that are not empty are; see `load_results`."""
    is_given = np.array([str(value) != "" for value in values], dtype=bool)
    given = _typed([value for value in values if str(value) != ""])
    if is_given.all():
        return given
    if given.dtype.kind == "U" or not len(given):
        return np.array(values, dtype=np.str_)
    column = np.full(len(values), np.nan)
    column[is_given] = given
    return column


def _typed(values: list[Any]) -> Array:
    """Booleans, whole numbers, numbers or text, whichever all of the values are."""
    texts = list(map(str, values))
    if texts and all(text in ("True", "False") for text in texts):
        return np.array([text == "True" for text in texts])
    for dtype in (np.int64, np.float64):
        try:
            return np.array(texts if dtype is np.int64 else values, dtype=dtype)
        except (ValueError, OverflowError):
            continue
    return np.array(values, dtype=np.str_)
