"""Reads monitor files back."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk.records import Array
from rlk_wrappers.episode_file import SUFFIX

_OLD_SUFFIX = "monitor.json"
_NUMBERS = ("r", "l", "t")
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
    start = min(header["t_start"] for header, _, _ in read)
    for header, numbers, _ in read:
        numbers["t"] += header["t_start"] - start
    joined = {name: np.concatenate([numbers[name] for _, numbers, _ in read]) for name in _NUMBERS}
    for name in dict.fromkeys(chain.from_iterable(texts for _, _, texts in read)):
        parts = [texts.get(name, [""] * len(numbers["t"])) for _, numbers, texts in read]
        # All files decide its type together.
        joined[name] = _column(list(chain.from_iterable(parts)))
    order = np.argsort(joined["t"], kind="stable")
    return {key: values[order] for key, values in joined.items()}


def read_monitor_header(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What the first line of one file says; no episode is read, of which there may be millions.

    The header has `t_start`, `env_id`, `timesteps`, those of this rank before the file's first
    episodes, and `ranks`, how many ranks stepped as many environments as the one that wrote it.

    Raises:
        LoadMonitorResultsError: if it is damaged.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            return _header(file.readline())
    except _DAMAGES as error:
        raise _no_monitor_file(Path(path), error) from None


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array], dict[str, list[str]]]:
    """A file's header, its columns `r`, `l` and `t`, and the cells of all others."""
    try:
        text = path.read_text(encoding="utf-8")
        # A row that is still being written does not end with a newline.
        first, *lines = text[: text.rfind("\n") + 1].splitlines()
        header = _header(first)
        of_file = _of_json if path.name.endswith(_OLD_SUFFIX) else _of_csv
        texts = of_file(lines)
        numbers = {name: _column(texts.pop(name)).astype(np.float64) for name in _NUMBERS}
        if not np.all(numbers["l"] >= 0) or not np.all(numbers["l"] < 2**62):
            raise ValueError("an episode's length must be a whole number")
        return header, numbers | {"l": numbers["l"].astype(np.int64)}, texts
    except _DAMAGES as error:
        raise _no_monitor_file(path, error) from None


def _header(line: str) -> dict[str, Any]:
    """What the first line of a file says."""
    header = parse_json(line.removeprefix("#"))
    return {
        "t_start": float(header["t_start"]),
        "env_id": header.get("env_id"),
        "timesteps": int(header.get("timesteps", 0)),
        "ranks": int(header.get("ranks", 1)),
    }


def _no_monitor_file(path: Path, error: Exception) -> LoadMonitorResultsError:
    return LoadMonitorResultsError(
        f"{path} is not a monitor file: {type(error).__name__}: {error}."
    )


def _of_csv(lines: list[str]) -> dict[str, list[str]]:
    names, *rows = csv.reader(lines)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _of_json(lines: list[str]) -> dict[str, list[str]]:
    """The columns of an old file of Stable Baselines in JSON, in which a row is a dict."""
    rows = [parse_json(line) for line in lines]
    names = list(rows[0]) if rows else _NUMBERS
    return {name: ["" if row[name] is None else str(row[name]) for row in rows] for name in names}


def _column(texts: list[str]) -> Array:
    """Cells as numbers if those that are not empty are; see `load_results`."""
    is_given = np.array([text != "" for text in texts], dtype=bool)
    given = _typed([text for text in texts if text != ""])
    if is_given.all():
        return given
    if given.dtype.kind == "U" or not len(given):
        return np.array(texts, dtype=np.str_)
    column = np.full(len(texts), np.nan)
    column[is_given] = given
    return column


def _typed(texts: list[str]) -> Array:
    """Booleans, whole numbers, numbers or text, whichever all of the texts are."""
    if texts and all(text in ("True", "False") for text in texts):
        return np.array([text == "True" for text in texts])
    for dtype in (np.int64, np.float64):
        try:
            return np.array(texts, dtype=dtype)
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=np.str_)
