"""All evaluations of a run: `evaluations.npz`, as of Stable Baselines 2.10, and in checkpoints.

Dimensions: K evaluations.
"""

from __future__ import annotations

import io
import itertools
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile
from rlk.files import replacing
from rlk.records import Array
from rlk_evaluate.evaluate import Evaluation

HISTORY = "evaluations.npz"
_CUMULATIVE = "cumulative_timesteps"
_BEFORE_FOLDER = "before_folder"
#: What an evaluation has of each of its episodes, as float64 (d) or int64 (q).
_OF_EPISODES = {"returns": "d", "lengths": "q", "successes": "d"}


#: A file of more evaluations is not written after each of them, but when it grows by 1 %: the file
#: is written as a whole, and for 100,000 evaluations that would be 480 GB.
SMALL = 1000


class History:
    """All evaluations of a run, in columns that grow; they are written as a whole."""

    def __init__(self, evaluations: Iterable[Evaluation] = ()) -> None:
        columns = {"timesteps": "q", _CUMULATIVE: "q", **_OF_EPISODES}
        columns |= {f"{name}_counts": "q" for name in _OF_EPISODES}
        self._columns = {name: array(code) for name, code in columns.items()}
        for one in evaluations:
            self.append(one)

    def __len__(self) -> int:
        return len(self._columns["timesteps"])

    def is_due(self, n_written: int) -> bool:
        """Whether to write it, now that the file has this number of its evaluations."""
        return len(self) <= SMALL or len(self) >= 1.01 * n_written

    def append(self, evaluation: Evaluation) -> None:
        self._columns["timesteps"].append(evaluation.timesteps)
        self._columns[_CUMULATIVE].append(evaluation.cumulative_timesteps)
        for name in _OF_EPISODES:
            row = getattr(evaluation, name)
            self._columns[name].extend(row)
            self._columns[f"{name}_counts"].append(len(row))

    def packed(self) -> dict[str, Array]:
        """Arrays: a checkpoint holds few values in JSON, and arrays of any length.

        `timesteps` and `cumulative_timesteps` [K]; `returns`, `lengths` and `successes`, of one
        evaluation after the other; and how many of them each has, such as `returns_counts` [K].
        """
        return {name: np.array(column) for name, column in self._columns.items()}


def write_history(path: Path, history: History, before_folder: int = 0) -> None:
    """Write all evaluations to `evaluations.npz`; the file is complete at any time.

    If the number of episodes was changed meanwhile, shorter rows end in NaN (lengths in 0).

    Args:
        path: the file.
        history: at least one evaluation.
        before_folder: the timesteps of earlier calls of `learn`, as in another folder, which
            cumulative ones leave out.
    """
    flat = history.packed()
    counts, widest = flat["returns_counts"], flat["returns_counts"].max()
    is_episode = np.arange(widest) < counts[:, None]  # [K, episodes]
    results = np.full(is_episode.shape, np.nan)
    lengths = np.zeros(is_episode.shape, dtype=np.int64)
    results[is_episode], lengths[is_episode] = flat["returns"], flat["lengths"]
    columns = {name: flat[name] for name in ("timesteps", _CUMULATIVE)}
    columns |= {"results": results, "ep_lengths": lengths}
    columns[_BEFORE_FOLDER] = np.array(before_folder)
    if (flat["successes_counts"] == widest).all():
        columns["successes"] = flat["successes"].reshape(is_episode.shape)
    archive = io.BytesIO()  # on a full disk, numpy 1 would print a traceback
    np.savez(archive, **columns)  # type: ignore[arg-type]
    with replacing(path) as file:
        file.write(archive.getbuffer())


def read_history(path: Path) -> list[Evaluation]:
    """The evaluations that `write_history` wrote; none if there is no such file.

    Raises:
        BadFile: if it is damaged.
    """
    if not path.exists():
        return []
    found = read_npz(path)
    names = ("timesteps", _CUMULATIVE, "results", "ep_lengths")
    at, cumulative, results, lengths = (found.get(name, np.zeros(0)) for name in names)
    successes = found.get("successes", np.zeros((len(at), 0)))
    columns = (at, results, lengths, successes, cumulative)
    are_numbers = all(one.dtype.kind in "biuf" for one in columns)
    is_whole = at.ndim == 1 and results.ndim == successes.ndim == 2
    are_alike = results.shape == lengths.shape and at.shape == cumulative.shape
    if not are_numbers or not is_whole or not are_alike or len(at) != len(results):
        raise BadFile(
            f"{path} is damaged: it has no returns and lengths, [K, episodes], of K timesteps with "
            f"their {_CUMULATIVE}. Move it elsewhere to begin another."
        )
    history = []
    for timesteps, row, long, good, count in zip(*columns, strict=True):
        returns = row[~np.isnan(row)].tolist()
        history.append(
            Evaluation(
                [float(one) for one in returns],
                [int(one) for one in long[: len(returns)]],
                [float(one) for one in good],
                int(timesteps),
                cumulative_timesteps=int(count),
            )
        )
    return history


def read_before_folder(path: Path) -> int:
    """The `before_folder` with which `write_history` wrote the file.

    Raises:
        BadFile: if it is damaged.
    """
    found = read_npz(path).get(_BEFORE_FOLDER)
    if found is None or found.shape != () or found.dtype.kind not in "iu" or found < 0:
        raise BadFile(
            f"{path} is damaged: its {_BEFORE_FOLDER} is no count of timesteps. "
            "Move it elsewhere to begin another."
        )
    return int(found)


def unpacked(saved: Any) -> list[Evaluation]:
    """The evaluations of a packed history."""
    columns = []
    for name in _OF_EPISODES:
        values, ends = np.asarray(saved[name]).tolist(), np.cumsum(saved[f"{name}_counts"]).tolist()
        columns.append([values[start:end] for start, end in itertools.pairwise([0, *ends])])
    timesteps, cumulative = (
        np.asarray(saved[name]).tolist() for name in ("timesteps", _CUMULATIVE)
    )
    return [
        Evaluation(returns, lengths, successes, at, cumulative_timesteps=count)
        for returns, lengths, successes, at, count in zip(
            *columns, timesteps, cumulative, strict=True
        )
    ]


def until(history: list[Evaluation], timesteps: int) -> list[Evaluation]:
    """The evaluations without those at the end that are of later timesteps."""
    kept = len(history)
    while kept and history[kept - 1].timesteps > timesteps:
        kept -= 1
    return history[:kept]
