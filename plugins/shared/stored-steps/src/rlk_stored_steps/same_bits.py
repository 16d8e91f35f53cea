"""Whether arrays are equal bit for bit, so that a NaN equals itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlk.records import Array

#: Up to this size, comparing copies of two arrays is faster than comparing the arrays.
_COPIED_BYTES = 65_536


def comparison(size: int) -> Callable[[Array, Array], bool]:
    """The faster way to compare arrays of this many bytes, which have the same shape and dtype.

    They may be strided, such as a field of records.
    """
    return _equal_copies if size <= _COPIED_BYTES else _equal_arrays


def _equal_copies(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _equal_arrays(one: Array, other: Array) -> bool:
    return np.array_equal(_bytes(one), _bytes(other))


def _bytes(array: Array) -> Array:
    """The bytes of an array, uint8 [size]; copied only if it is not contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
