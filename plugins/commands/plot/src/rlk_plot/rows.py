"""The rows of progress.csv as a curve: of a run that has no episodes in monitor files.

Stable-Baselines3 writes rows with the same columns; those of its on-policy algorithms do not count
episodes.

Dimensions: E rows.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from rlk.errors import BadFile
from rlk.records import Array

MEAN_RETURN = "rollout/ep_rew_mean"
#: The column of each part of a curve.
_COLUMNS = {
    "returns": MEAN_RETURN,
    "timesteps": "time/total_timesteps",
    "episodes": "time/episodes",
    "seconds": "time/time_elapsed",
}
#: Every part that a curve may lack.
_OPTIONAL = ("episodes",)


def from_progress(folder: Path) -> dict[str, Array | None] | None:
    """The parts of a curve, float64 [E] each; None if no row has a mean return.

    Of several calls of `learn`, timesteps and seconds are one count.

    Raises:
        BadFile: if the file cannot be read, or a number in it.
    """
    path = folder / "progress.csv"
    if not path.exists():
        return None
    columns, rows = _read(path)
    present = {
        name: column
        for name, column in _COLUMNS.items()
        if column in columns or name not in _OPTIONAL
    }
    # Other rows are of evaluations, or from before the first episode ended.
    rows = [row for row in rows if all(map(row.get, present.values()))]
    if not rows:
        return None
    try:
        found = {
            name: np.array([float(row[column]) for row in rows]) for name, column in present.items()
        }
    except (ValueError, TypeError) as error:
        raise _damaged(path, error) from None
    counted = {name: one_count(found[name]) for name in ("timesteps", "seconds")}
    return {**dict.fromkeys(_OPTIONAL), **found, **counted}


def columns_of(folder: Path) -> list[str]:
    """The columns of its progress.csv; none of a file that is empty or not there."""
    path = folder / "progress.csv"
    return _read(path)[0] if path.exists() else []


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or ()), list(reader)
    except (OSError, ValueError, csv.Error) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} is damaged: {error}.")


def one_count(values: Array, *, is_strict: bool = False) -> Array:
    """float64 [E]: timesteps or seconds of several calls of `learn`, each from 0, as one count.

    Where they fall, the last value before that is added to all that follow.

    Args:
        values: float64 [E], in the order of the file.
        is_strict: whether two equal values are of two calls.
    """
    steps = np.diff(values, prepend=0.0)
    began = steps <= 0 if is_strict else steps < 0
    began[:1] = False
    return values + np.cumsum(np.where(began, np.roll(values, 1), 0.0))
