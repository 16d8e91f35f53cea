"""Whether arrays are equal bit for bit, so that a NaN equals itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlk.records import Array

#: Up to this size, comparing copies of two arrays is faster than comparing the arrays.
_COPIED_BYTES = 65_536


def comparison(size: int) -> Callable[[Array, Array], bool]:
    """The faster way to compare contiguous arrays of this many bytes."""
    return _equal_copies if size <= _COPIED_BYTES else _equal_arrays


def _equal_copies(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _equal_arrays(one: Array, other: Array) -> bool:
    return np.array_equal(one.view(np.uint8), other.view(np.uint8))
