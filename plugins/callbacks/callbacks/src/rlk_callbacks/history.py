"""All evaluations of a run: `evaluations.npz`, as of Stable Baselines 2.10, and in checkpoints.

Dimensions: K evaluations.
"""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile
from rlk.files import replacing
from rlk.records import Array
from rlk_evaluation.evaluate import Evaluation

HISTORY = "evaluations.npz"
#: What an evaluation has of each of its episodes.
_OF_EPISODES = {"returns": np.float64, "lengths": np.int64, "successes": np.float64}


def packed(history: list[Evaluation]) -> dict[str, Array]:
    """Evaluations as arrays: a checkpoint holds few values in JSON, and arrays of any length.

    `timesteps` [K]; `returns`, `lengths` and `successes`, of one evaluation after the other; and
    how many of them each has, such as `returns_counts` [K].
    """
    arrays = {"timesteps": np.array([one.timesteps for one in history], np.int64)}
    for name, dtype in _OF_EPISODES.items():
        rows = [getattr(one, name) for one in history]
        arrays[name] = np.array(list(itertools.chain.from_iterable(rows)), dtype)
        arrays[f"{name}_counts"] = np.array([len(row) for row in rows], np.int64)
    return arrays


def write_history(path: Path, history: list[Evaluation]) -> None:
    """Write all evaluations to `evaluations.npz`; the file is complete at any time.

    If the number of episodes was changed meanwhile, shorter rows end in NaN (lengths in 0).

    Args:
        path: the file.
        history: at least one evaluation.
    """
    flat = packed(history)
    counts, widest = flat["returns_counts"], flat["returns_counts"].max()
    is_episode = np.arange(widest) < counts[:, None]  # [K, episodes]
    results = np.full(is_episode.shape, np.nan)
    lengths = np.zeros(is_episode.shape, dtype=np.int64)
    results[is_episode], lengths[is_episode] = flat["returns"], flat["lengths"]
    columns = {"timesteps": flat["timesteps"], "results": results, "ep_lengths": lengths}
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
    names = ("timesteps", "results", "ep_lengths")
    at, results, lengths = (found.get(name, np.zeros(0)) for name in names)
    successes = found.get("successes", np.zeros((len(at), 0)))
    columns = (at, results, lengths, successes)
    are_numbers = all(one.dtype.kind in "biuf" for one in columns)
    is_whole = at.ndim == 1 and results.ndim == successes.ndim == 2
    are_alike = results.shape == lengths.shape and len(at) == len(results)
    if not are_numbers or not is_whole or not are_alike:
        raise BadFile(
            f"{path} is damaged: it has no returns and lengths, [K, episodes], of K timesteps. "
            "Move it elsewhere to begin another."
        )
    history = []
    for timesteps, row, long, good in zip(*columns, strict=True):
        returns = row[~np.isnan(row)].tolist()
        history.append(
            Evaluation(
                [float(one) for one in returns],
                [int(one) for one in long[: len(returns)]],
                [float(one) for one in good],
                int(timesteps),
            )
        )
    return history


def unpacked(saved: Any) -> list[Evaluation]:
    """The evaluations of a packed history."""
    columns = []
    for name in _OF_EPISODES:
        values, ends = np.asarray(saved[name]).tolist(), np.cumsum(saved[f"{name}_counts"]).tolist()
        columns.append([values[start:end] for start, end in itertools.pairwise([0, *ends])])
    timesteps = np.asarray(saved["timesteps"]).tolist()
    return [Evaluation(*one) for one in zip(*columns, timesteps, strict=True)]


def until(history: list[Evaluation], timesteps: int) -> list[Evaluation]:
    """The evaluations without those at the end that are of later timesteps."""
    kept = len(history)
    while kept and history[kept - 1].timesteps > timesteps:
        kept -= 1
    return history[:kept]
