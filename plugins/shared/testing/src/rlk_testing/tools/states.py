"""States, as checkpoints hold them: what may be in one, and whether two are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any, where: str = "state") -> None:
    """Raises AssertionError if a state holds more than JSON values, arrays and tensors."""
    import torch

    if value is None or isinstance(value, (bool, int, float, str, torch.Tensor)):
        return
    if isinstance(value, (np.ndarray, np.generic)):
        assert value.dtype != object, (
            f"{where} is an array of objects, which no checkpoint can hold"
        )
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            assert isinstance(key, str), f"{where} has the key {key!r}; keys must be strings"
            plain(part, f"{where}[{key!r}]")
        return
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            plain(part, f"{where}[{i}]")
        return
    raise AssertionError(f"{where} holds a {type(value).__name__}, which no checkpoint can hold")


def same(one: Any, other: Any) -> bool:
    """Whether two states or results are equal, arrays and tensors bit for bit."""
    import torch

    if isinstance(one, Mapping) or isinstance(other, Mapping):
        both = (
            isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys()
        )
        return both and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) or isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (np.ndarray, torch.Tensor)) or isinstance(other, (np.ndarray, torch.Tensor)):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype == b.dtype == object:
            return a.shape == b.shape and same(a.tolist(), b.tolist())
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if one != one and other != other:
        return True
    return bool(one == other)
