"""Sums and minima of many numbers, a few of which change at a time: the tree of prioritized replay.

The leaves are in blocks of 32 or more, the blocks in rows of 32. A batch spends its time in calls
of numpy, not in arithmetic: so whole rows of running sums are computed at once, and a target is
searched twice, among the running sums of all blocks and among those of the leaves of one.

Every sum is taken from left to right, so that any implementation (`rlk-cpp-priorities`) has the
same bits: a running sum is that of the rows before, plus that within the row. A block is always
summed again from its leaves, never corrected by a difference: rounding errors cannot accumulate,
and the sums depend only on the leaves, not on their history.

Running sums are torch's, which takes a third of numpy's time for them.

Dimensions: n leaves, K leaves of a block, R rows, B batch.
"""

from __future__ import annotations

import numpy as np
import torch

from rlk.records import Array

#: Blocks in a row.
ROW = 32
_LEAST_BLOCK, _MOST_BLOCKS = 32, 1 << 15
#: Calls of `set` after which the sums are updated, so that pending changes are bounded.
_MOST_CHANGES = 1024


def shape_of(n: int) -> tuple[int, int]:
    """R and K, with room for n leaves."""
    size = _LEAST_BLOCK
    while n > size * _MOST_BLOCKS:
        size *= 2
    return -(-n // (ROW * size)), size


class SumTree:
    """Non-negative float64 leaves: their sum, smallest non-zero value, search by running sum."""

    def __init__(self, n: int) -> None:
        rows, self._size = shape_of(n)
        self._blocks = np.zeros((rows * ROW, self._size))
        self.leaves: Array = self._blocks.reshape(-1)[:n]
        self._sums = np.zeros(rows * ROW)
        #: The smallest leaf of each block, infinite where all are zero.
        self._minima = np.full(rows * ROW, np.inf)
        #: The sum of all blocks before each, and of all.
        self._before = np.zeros(rows * ROW + 1)
        self._changed: list[Array] = []
        # Tensors of the same memory, which sum up all rows.
        before_row = torch.zeros(rows + 1, dtype=torch.float64)
        self._before_row, self._through_row = before_row[:-1, None], before_row[1:]
        self._rows = torch.from_numpy(self._sums).reshape(rows, ROW)
        self._in_row = torch.zeros_like(self._rows)
        self._row_sums = self._in_row[:, -1]
        self._through = torch.from_numpy(self._before)[1:].reshape(rows, ROW)

    def set(self, index: Array, value: Array | float) -> None:
        """Set leaves. If an index occurs twice, the last value counts."""
        self.leaves[index] = value
        self._changed.append(index)
        if len(self._changed) == _MOST_CHANGES:
            self._refresh()

    def total(self) -> float:
        """The sum of all leaves."""
        self._refresh()
        return float(self._before[-1])

    def minimum(self) -> float:
        """The smallest leaf that is not zero; infinite if all are zero."""
        self._refresh()
        return float(np.minimum.reduce(self._minima))

    def find(self, target: Array) -> Array:
        """Where the running sum of the leaves first exceeds each target, int64 [B]; no zero leaf.

        Args:
            target: float64 [B], 0 up to the total; one that exceeds it by a rounding error gives
                the last leaf.
        """
        self._refresh()
        target = np.minimum(target, np.nextafter(self._before[-1], 0))
        block = self._before[1:].searchsorted(target, side="right")
        target -= self._before.take(block)
        running = _running(self._blocks.take(block, axis=0))
        # What a block adds to the sum of all and its own sum may differ by a rounding error.
        np.minimum(target, np.nextafter(running[:, -1], 0), out=target)
        return block * self._size + (running > target[:, None]).argmax(axis=1)

    def _refresh(self) -> None:
        """Sum the blocks with changed leaves again, once for all changes since the last search."""
        if not self._changed:
            return
        block = np.concatenate(self._changed) // self._size
        self._changed.clear()
        if len(block) > len(self._blocks):
            block = np.arange(len(self._blocks))
        leaves = self._blocks.take(block, axis=0)
        self._sums[block] = _running(leaves)[:, -1]
        least = torch.from_numpy(leaves).amin(1).numpy()
        if not least.all():
            least = np.where(leaves > 0, leaves, np.inf).min(axis=1)
        self._minima[block] = least
        torch.cumsum(self._rows, 1, out=self._in_row)
        torch.cumsum(self._row_sums, 0, out=self._through_row)
        torch.add(self._in_row, self._before_row, out=self._through)


def _running(values: Array) -> Array:
    """The running sums of every row."""
    return torch.from_numpy(values).cumsum(1).numpy()
