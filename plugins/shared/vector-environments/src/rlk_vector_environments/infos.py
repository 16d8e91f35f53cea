"""The infos of N environments as one dict of arrays, in Gymnasium's format.

Every key comes with a mask `_key`, bool [N], of the environments that had it. The type of a column
depends on its values: numbers and arrays of one shape become arrays, dicts are gathered in turn,
all other values are kept in an array of objects.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rlk.records import Array

Found = list[tuple[int, Any]]


class Gathered(dict[Any, Any]):
    """Gathered infos, with the infos themselves: a key may have the name of another one's mask.

    Attributes:
        entries: (index of the environment, its info), as `gather` took them.
    """

    entries: Sequence[tuple[int, dict[Any, Any]]] = ()


def gather(n: int, entries: Iterable[tuple[int, dict[Any, Any]]]) -> Gathered:
    """Infos by environment -> {key: array [n, ...], _key: bool [n]}.

    Args:
        n: number of environments.
        entries: (index of the environment, its info), in order of the index.

    If two environments have different types or shapes for a key, Gymnasium would fail or cut a
    value off; here the column gets the wider number type, or becomes objects.
    """
    columns: dict[Any, Found] = {}
    gathered = Gathered()
    gathered.entries = list(entries)
    for i, info in gathered.entries:
        for key, value in info.items():
            columns.setdefault(key, []).append((i, value))
    for key, found in columns.items():
        gathered[key] = _column(n, found)
        gathered[f"_{key}"] = mask(n, [i for i, _ in found])
    return gathered


def as_it_is(info: Any) -> Any:
    """A copy of an info whose dicts, lists, tuples and arrays no other code writes to.

    Dicts and lists of classes of their own (a defaultdict) become plain ones; tuples with names
    keep them.
    """
    if isinstance(info, dict):
        return {key: as_it_is(value) for key, value in info.items()}
    if isinstance(info, list):
        return [as_it_is(value) for value in info]
    if isinstance(info, tuple):
        return getattr(type(info), "_make", tuple)(map(as_it_is, info))
    return info.copy() if isinstance(info, np.ndarray) else info


def of_row(infos: Mapping[Any, Any], index: int) -> dict[Any, Any]:
    """The info of one environment, out of gathered ones; a key without a mask belongs to all."""
    return {
        key: of_row(value, index) if isinstance(value, dict) else value[index]
        for key, value in infos.items()
        if not str(key).startswith("_") and (f"_{key}" not in infos or infos[f"_{key}"][index])
    }


def of_step(
    n: int,
    kept: Mapping[str, Array],
    ends: Sequence[tuple[int, Any, dict[Any, Any]]],
    entries: Sequence[tuple[int, dict[Any, Any]]],
) -> Gathered:
    """All infos of a step.

    Args:
        n: number of environments.
        kept: the numbers that are kept of every info.
        ends: (index, last observation, last info) of each episode that ended.
        entries: (index, info) of those that are gathered whole.
    """
    found = gather(n, entries)
    if ends:
        found.update(ended(n, ends))
    if kept:
        found["kept"] = dict(kept)
    return found


def ended(n: int, ends: Sequence[tuple[int, Any, dict[Any, Any]]]) -> dict[str, Any]:
    """The part of a step's infos about ended episodes.

    Args:
        n: number of environments.
        ends: (index, last observation, last info) of each that ended, in order of the index.

    Returns:
        `final_obs` (objects [n]), `final_info` (gathered), and their masks `_final_obs`,
        `_final_info`.
    """
    has_ended = mask(n, [i for i, _, _ in ends])
    return {
        "final_obs": _objects(n, [(i, observation) for i, observation, _ in ends]),
        "_final_obs": has_ended,
        "final_info": gather(n, [(i, info) for i, _, info in ends]),
        "_final_info": has_ended.copy(),
    }


def kept_number(info: Mapping[str, Any], key: str) -> float:
    """The number under a kept key; NaN stands for a key that the info does not have.

    Raises:
        TypeError, ValueError: for something else than a number, and for NaN itself.
    """
    if key not in info:
        return math.nan
    number = float(info[key])
    if math.isnan(number):
        raise ValueError("NaN stands for a key that is not there")
    return number


def not_kept(i: int, key: str, info: Mapping[str, Any]) -> str:
    """The error message about an environment whose info has no number under a kept key."""
    return (
        f"environment {i} gave {reprlib.repr(info[key])} as info {key!r} with a step; a storage's "
        "info_keys need numbers. Return a number, or leave the key out, or name other info_keys: "
        "[] keeps none, and HER without info_keys keeps all that compute_reward reads."
    )


def mask(n: int, indices: list[int]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """bool [n], true at the indices."""
    found = np.zeros(n, np.bool_)
    for index in indices:  # for a few indices, faster than one assignment of numpy
        found[index] = True
    return found


def _column(n: int, found: Found) -> Any:
    values = [value for _, value in found]
    if all(isinstance(value, dict) for value in values):
        return gather(n, found)
    if all(_is_number(value) for value in values):
        return _numbers(n, found)
    if all(isinstance(value, np.ndarray) for value in values):
        first = values[0]
        if all((value.shape, value.dtype) == (first.shape, first.dtype) for value in values):
            column = np.zeros((n, *first.shape), first.dtype)
            for i, value in found:
                column[i] = value
            return column
    return _objects(n, found)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, bool) or isinstance(value, np.number)


def _numbers(n: int, found: Found) -> np.ndarray[Any, Any]:
    kinds = [np.dtype(type(value)) for _, value in found]
    column = np.zeros(n, np.result_type(*kinds))
    try:
        for i, value in found:
            column[i] = value
    except OverflowError:  # an int beyond 64 bits
        return _objects(n, found)
    return column


def _objects(n: int, found: Found) -> np.ndarray[Any, Any]:
    column = np.empty(n, object)  # filled with None
    for i, value in found:
        column[i] = value
    return column
