"""All evaluations of a run: `evaluations.npz`, as of Stable Baselines 2.10, and in checkpoints.

Dimensions: K evaluations.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile
from rlk.files import replacing
from rlk.records import Array
from rlk_evaluate.evaluate import Evaluation

HISTORY = "evaluations.npz"
#: What an evaluation has of each of its episodes.
_OF_EPISODES = {"returns": np.float64, "lengths": np.int64, "successes": np.float64}


def write_history(path: Path, history: list[Evaluation]) -> None:
    """Write all evaluations to `evaluations.npz`; the file is complete at any time.

    If the number of episodes was changed meanwhile, shorter rows end in NaN (lengths in 0).
    """
    widest = max(len(past.returns) for past in history)
    results = np.full((len(history), widest), np.nan)
    lengths = np.zeros((len(history), widest), dtype=np.int64)
    for row, past in enumerate(history):
        results[row, : len(past.returns)] = past.returns
        lengths[row, : len(past.lengths)] = past.lengths
    columns = {
        "timesteps": np.array([past.timesteps for past in history], dtype=np.int64),
        "results": results,
        "ep_lengths": lengths,
    }
    if all(len(past.successes) == widest for past in history):
        columns["successes"] = np.array([past.successes for past in history])
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
    at, results, lengths = (
        found.get(name, np.zeros(0)) for name in ("timesteps", "results", "ep_lengths")
    )
    successes = found.get("successes", np.zeros((len(at), 0)))
    are_numbers = all(one.dtype.kind in "biuf" for one in (at, results, lengths, successes))
    is_whole = at.ndim == 1 and results.ndim == successes.ndim == 2
    if not are_numbers or not is_whole or results.shape != lengths.shape or len(at) != len(results):
        raise BadFile(
            f"{path} is damaged: it has no returns and lengths, [K, episodes], of K timesteps. "
            "Move it elsewhere to begin another."
        )
    history = []
    for timesteps, row, long, good in zip(at, results, lengths, successes, strict=True):
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


def packed(history: list[Evaluation]) -> dict[str, Array]:
    """All evaluations as arrays: a checkpoint holds few values in JSON, and arrays of any length.

    `timesteps` [K]; `returns`, `lengths` and `successes`, of one evaluation after the other; and
    how many of them each has, such as `returns_counts` [K].
    """
    arrays = {"timesteps": np.array([past.timesteps for past in history], np.int64)}
    for name, dtype in _OF_EPISODES.items():
        rows = [getattr(past, name) for past in history]
        arrays[name] = np.array([value for row in rows for value in row], dtype)
        arrays[f"{name}_counts"] = np.array([len(row) for row in rows], np.int64)
    return arrays


def unpacked(saved: Any) -> list[Evaluation]:
    """The evaluations that `packed` got; older checkpoints have a list of dicts instead."""
    if isinstance(saved, list):
        columns = {name: [past[name] for past in saved] for name in ("timesteps", *_OF_EPISODES)}
    else:
        columns = {"timesteps": saved["timesteps"]}
        for name in _OF_EPISODES:
            ends = np.cumsum(saved[f"{name}_counts"])
            columns[name] = np.split(np.asarray(saved[name]), ends)[:-1]
    rows = zip(*(columns[name] for name in (*_OF_EPISODES, "timesteps")), strict=True)
    return [
        Evaluation(
            [float(value) for value in returns],
            [int(value) for value in lengths],
            [float(value) for value in successes],
            int(timesteps),
        )
        for returns, lengths, successes, timesteps in rows
    ]


def until(history: list[Evaluation], timesteps: int) -> list[Evaluation]:
    """The evaluations without those at the end that are of later timesteps."""
    kept = len(history)
    while kept and history[kept - 1].timesteps > timesteps:
        kept -= 1
    return history[:kept]
