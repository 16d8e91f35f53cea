"""The tree of prioritized replay, with its sums and its search in C++ (`tree.cpp`)."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_cpp_libraries import load
from rlk_prioritized_replay.tree import ROW, shape_of

SOURCE = Path(__file__).with_name("tree.cpp")
#: The number of leaves that one C++ call sets or finds; they are copied into fixed arrays. A
#: multiple of TOGETHER in the source.
AT_A_TIME = 1024


class CppSumTree:
    """The same as `rlk_prioritized_replay.tree.SumTree`, bit for bit.

    Raises:
        Unbuilt: when the first tree is made, if the source cannot be built.
    """

    def __init__(self, n: int) -> None:
        self._cpp = library()
        rows, size = shape_of(n)
        blocks, leaves = rows * ROW, rows * ROW * size
        self._row_minima, self._before = np.full(rows, np.inf), np.zeros(rows + 1)
        self._kept = (  # as in the source
            np.zeros(leaves),
            *(np.zeros(blocks), np.full(blocks, np.inf), np.zeros(blocks)),
            *(np.zeros(rows), self._row_minima, self._before),
        )
        self.leaves: Array = self._kept[0][:n]
        self._record = np.array([n, rows, size, *map(_at, self._kept)])
        self._index, self._number = np.empty(AT_A_TIME, np.int64), np.empty(AT_A_TIME)
        self._places = _at(self._record), _at(self._index), _at(self._number)

    def set(self, index: Array, value: Array | float) -> None:
        """Set leaves. If an index occurs twice, the last value counts."""
        tree, indices, numbers = self._places
        value = np.broadcast_to(value, len(index))
        for at in range(0, len(index), AT_A_TIME):
            some = index[at : at + AT_A_TIME]
            count = len(some)
            self._index[:count] = some
            self._number[:count] = value[at : at + AT_A_TIME]
            if self._cpp.rlk_set(tree, indices, numbers, count) < count:
                raise IndexError(f"there are {len(self.leaves)} leaves, and {some} are to be set")

    def total(self) -> float:
        """The sum of all leaves."""
        return float(self._before[-1])

    def minimum(self) -> float:
        """The smallest leaf that is not zero; infinite if all are zero."""
        return float(np.minimum.reduce(self._row_minima))

    def find(self, target: Array) -> Array:
        """Where the running sum of the leaves first exceeds each target, int64 [B]; no zero leaf.

        Args:
            target: float64 [B], from 0 up to the total; if rounding exceeds it, the last leaf is
                found.
        """
        tree, indices, numbers = self._places
        found = np.empty(len(target), np.int64)
        for at in range(0, len(target), AT_A_TIME):
            some = target[at : at + AT_A_TIME]
            count = len(some)
            self._number[:count] = some
            self._cpp.rlk_find(tree, numbers, indices, count)
            found[at : at + count] = self._index[:count]
        return found

    def __reduce__(self) -> Any:
        """A copy has its own arrays, and their new addresses."""
        return _tree_of, (self.leaves.copy(),)


def _tree_of(leaves: Array) -> CppSumTree:
    tree = CppSumTree(len(leaves))
    tree.set(np.arange(len(leaves)), leaves)
    return tree


@functools.cache
def library() -> Any:
    """The functions of the source, which is built if necessary.

    Raises:
        Unbuilt: with the message of the compiler or the loader.
    """
    functions = load(SOURCE, "-O3")
    place, count = ctypes.c_void_p, ctypes.c_int64
    functions.rlk_set.argtypes, functions.rlk_set.restype = (place, place, place, count), count
    functions.rlk_find.argtypes, functions.rlk_find.restype = (place, place, place, count), None
    return functions


def _at(array: Array) -> int:
    """The address of an array in memory."""
    return int(array.ctypes.data)
