"""Whether a saved state has the types of the state that a new part of the run would save.

A file may hold anything. So a saved state is compared with the part's own state, value by value,
before the part loads it: text is not a number, a tensor has its dtype and its shape. Values that a
new part does not have yet (None, an empty list or array, further keys) are left to the part.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rlk.errors import BadFile


def check_state(saved: Any, own: Any, what: str) -> None:
    """BadFile, naming the place, unless a saved state has the form of the part's own.

    Args:
        saved: from a file.
        own: the `state_dict` of the part that is to load it.
        what: its name in the error.
    """
    if own is None:
        return
    if isinstance(own, dict):
        _check(isinstance(saved, dict), saved, own, what)
        for key in own.keys() & saved.keys():
            check_state(saved[key], own[key], f"{what}.{key}")
    elif isinstance(own, list | tuple):
        _check(isinstance(saved, list | tuple), saved, own, what)
        _check_items(saved, own, what)
    elif _is_array(own):
        _check(isinstance(saved, type(own)), saved, own, what)
        _check_array(saved, own, what)
    else:
        _check(_is_like(saved, own), saved, own, what)


def _check_items(saved: Any, own: Any, what: str) -> None:
    """Compare lists of one length item by item; others with the first item if all are like it."""
    if len(saved) == len(own):
        models = list(own)
    elif len({type(item) for item in own}) == 1:
        models = [own[0]] * len(saved)
    else:
        return
    for number, (item, model) in enumerate(zip(saved, models, strict=True)):
        check_state(item, model, f"{what}[{number}]")


def _check_array(saved: Any, own: Any, what: str) -> None:
    """Compare arrays; the first axis of numpy's may differ, because some memory grows."""
    alike = saved.dtype == own.dtype and saved.ndim == own.ndim
    if alike and 0 not in own.shape and own.ndim:
        first = 1 if isinstance(own, np.ndarray) else 0
        alike = saved.shape[first:] == own.shape[first:]
    _check(alike, saved, own, what)


def _is_like(saved: Any, own: Any) -> bool:
    """Whether a single value has the type of the part's own; an int is accepted for a float."""
    if isinstance(own, bool | str):
        return type(saved) is type(own)
    if isinstance(saved, float | np.floating):
        return isinstance(own, float | np.floating)
    return isinstance(saved, int | np.integer) and not isinstance(saved, bool)


def _check(is_like: bool, saved: Any, own: Any, what: str) -> None:
    if not is_like:
        raise BadFile(f"{what} is {_described(saved)} in the file and {_described(own)} here.")


def _described(value: Any) -> str:
    if _is_array(value):
        return f"{type(value).__name__} of {value.dtype}, shape {tuple(value.shape)},"
    return f"{type(value).__name__} {value!r:.60}"


def _is_array(value: Any) -> bool:
    """Whether it is an array or a tensor; there are no tensors if torch is not imported."""
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))
