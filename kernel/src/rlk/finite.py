"""Whether the numbers that environments return are finite as the float32 that a run computes with.

Dimensions: N environments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import Space


def finite_check(space: Space) -> Callable[[Any], bool]:
    """The cheapest test that observations of this space are finite (1 µs for a small one)."""
    if isinstance(space, spaces.Dict):
        parts = {key: finite_check(sub) for key, sub in space.spaces.items()}
        return lambda observation: all(check(observation[key]) for key, check in parts.items())
    if isinstance(space, spaces.Box) and np.issubdtype(np.dtype(space.dtype), np.floating):
        return finite
    return lambda observation: True


def finite(array: Array) -> bool:
    """Whether a float array holds no NaN or infinity, and nothing that is infinite as a float32.

    A sum is finite only if every term is; if the sum itself overflows, every number is checked.
    """
    total = np.add.reduce(array, axis=None, dtype=np.float32)
    return math.isfinite(total) or not non_finite(array).any()


def non_finite(array: Array) -> Array:
    """Where storages and policies, which have float32, would have NaN or infinity; bool [...]."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(array.astype(np.float32))


def first_non_finite(observation: Any, reward: Array | None = None) -> tuple[int, str] | None:
    """The row of the first non-finite number, and a text: `nan in observation[1]`; or None.

    Args:
        observation: [N, …], or of a Dict space a dict of such.
        reward: float [N].
    """
    is_dict = isinstance(observation, Mapping)
    fields = list(observation.items()) if is_dict else [("observation", observation)]
    if reward is not None:
        fields.append(("reward", reward))
    for name, values in fields:
        array = np.asarray(values)
        if not np.issubdtype(array.dtype, np.floating) or not non_finite(array).any():
            continue
        row, *indices = map(int, np.argwhere(non_finite(array))[0])
        return row, f"{_described(array[row, *indices])} in {name}{indices or ''}"
    return None


def _described(number: Any) -> str:
    """The number; a float32 may have become infinite only when it was written into its array."""
    if np.isfinite(number):
        return f"{number} (too large for a float32)"
    if np.isinf(number) and number.dtype == np.float32:
        return f"{number} (or a number too large for a float32)"
    return str(number)
