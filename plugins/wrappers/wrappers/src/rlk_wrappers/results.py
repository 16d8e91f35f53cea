"""Reads monitor files back."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk_wrappers.episode_file import SUFFIX

Array = np.ndarray[Any, np.dtype[Any]]
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
    """A folder has no monitor files, or a file is not one."""


def get_monitor_files(path: str | os.PathLike[str]) -> list[str]:
    """The monitor files in a folder, by name."""
    return sorted(str(found) for found in Path(path).glob(f"*{SUFFIX}"))


def load_results(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The episodes of all monitor files in a folder, in the order in which they ended.

    Deviations from Stable Baselines 2.10: it returns a dict of arrays instead of a pandas DataFrame
    (`pandas.DataFrame(load_results(p))` makes one), and does not read the old JSON files.

    Returns:
        `r` float64 [E], `l` int64 [E], `t` float64 [E], seconds since the first file was begun, and
        every other column that all files have: float64 where all its values are numbers, else str.

    Raises:
        LoadMonitorResultsError: if there is no such file, or one is damaged.
    """
    files = get_monitor_files(path)
    if not files:
        raise LoadMonitorResultsError(f"no monitor files (*{SUFFIX}) in {path}.")
    read = [_read(Path(file)) for file in files]
    start = min(header["t_start"] for header, _ in read)
    for header, columns in read:
        columns["t"] = columns["t"] + (header["t_start"] - start)
    shared = [key for key in read[0][1] if all(key in columns for _, columns in read)]
    joined = {key: np.concatenate([columns[key] for _, columns in read]) for key in shared}
    order = np.argsort(joined["t"], kind="stable")
    return {key: values[order] for key, values in joined.items()}


def read_monitor_file(path: str | os.PathLike[str]) -> tuple[Mapping[str, Any], dict[str, Array]]:
    """One file: (header, columns), as in `load_results`.

    Raises:
        LoadMonitorResultsError: if it is damaged.
    """
    return _read(Path(path))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        text = path.read_text()
        first, _, rest = text.partition("\n")
        header = parse_json(first.removeprefix("#"))
        # A row that is being written has no end yet.
        names, *rows = csv.reader(rest[: rest.rfind("\n") + 1].splitlines())
        columns = {name: _column([row[i] for row in rows]) for i, name in enumerate(names)}
        numbers = {name: columns[name].astype(np.float64) for name in ("r", "l", "t")}
        if not np.all(numbers["l"] >= 0) or not np.all(numbers["l"] < 2**62):
            raise ValueError("an episode's length is no count of steps")
        return (
            {"t_start": float(header["t_start"]), "env_id": header.get("env_id")},
            columns | numbers | {"l": numbers["l"].astype(np.int64)},
        )
    except _DAMAGES as error:
        raise LoadMonitorResultsError(
            f"{path} is not a monitor file: {type(error).__name__}: {error}."
        ) from None


def _column(values: list[str]) -> Array:
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return np.array(values)
