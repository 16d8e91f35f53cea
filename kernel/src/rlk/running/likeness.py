"""Whether a saved state has the types of the state that a new part of the run would save.

A file may hold anything. What a part is given to take up is compared with what it has itself, value
by value: text is no number, a tensor has its type and its shape. What a new part does not have yet
(None, an empty list or array, further keys) is left to the part.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rlk.errors import BadFile


def check_like(saved: Any, own: Any, what: str) -> None:
    """BadFile, naming the place, unless a saved state is like one's own.

    Args:
        saved: from a file.
        own: the `state_dict` of the part that is to take it up.
        what: the error calls it.
    """
    if own is None:
        return
    if isinstance(own, dict):
        _check(isinstance(saved, dict), saved, own, what)
        for key in own.keys() & saved.keys():
            check_like(saved[key], own[key], f"{what}.{key}")
    elif isinstance(own, list | tuple):
        _check(isinstance(saved, list | tuple), saved, own, what)
        _check_items(saved, own, what)
    elif _is_array(own):
        _check(isinstance(saved, type(own)), saved, own, what)
        _check_array(saved, own, what)
    else:
        _check(_is_like(saved, own), saved, own, what)


def _check_items(saved: Any, own: Any, what: str) -> None:
    """Those of lists of one length by their places; else all are like the first, if its own are."""
    if len(saved) == len(own):
        models = list(own)
    elif len({type(item) for item in own}) == 1:
        models = [own[0]] * len(saved)
    else:
        return
    for number, (item, model) in enumerate(zip(saved, models, strict=True)):
        check_like(item, model, f"{what}[{number}]")


def _check_array(saved: Any, own: Any, what: str) -> None:
    """The first axis may differ, where memory grows."""
    alike = saved.dtype == own.dtype and saved.ndim == own.ndim
    if alike and 0 not in own.shape and own.ndim:
        alike = saved.shape[1:] == own.shape[1:]
    _check(alike, saved, own, what)


def _is_like(saved: Any, own: Any) -> bool:
    """Whether a single value is of a type like one's own: a whole number will do for a float."""
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
    """Whether it is an array or a tensor; nothing is one where nobody has imported torch."""
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))
