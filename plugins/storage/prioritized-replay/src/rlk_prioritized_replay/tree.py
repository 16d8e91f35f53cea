"""Sums and minima of many numbers, a few of which change at a time: the tree of prioritized replay.

It has two levels: leaves in blocks of 32 or more, and the blocks, whose running sum is computed
outright. What a batch costs is calls of numpy, not arithmetic: more levels have fewer numbers to
add up and take longer. (A level more, of nodes of 32 below at most 2,048 others, took 1.1 to 1.4
times as long, for batches of 32 of 50,000 and of 256 of a million.)

Running sums are torch's, which takes a third of numpy's time for them.

A block is always summed anew from its leaves, never corrected by a difference: rounding errors
cannot pile up, and the sums depend on the leaves alone, not on their history.

Dimensions: n leaves, K leaves of a block, B batch.
"""

from __future__ import annotations

import numpy as np
import torch

from rlk.records import Array

_LEAST_BLOCK, _MOST_BLOCKS = 32, 1 << 15
#: Calls of `set` after which the sums are brought up to date unasked: what waits is bounded.
_MOST_CHANGES = 1024


class SumTree:
    """Non-negative float64 leaves: their sum, least non-zero value, and search by running sum."""

    def __init__(self, n: int) -> None:
        self._size = _LEAST_BLOCK
        while n > self._size * _MOST_BLOCKS:
            self._size *= 2
        blocks = -(-n // self._size)
        self._blocks = np.zeros((blocks, self._size))
        self.leaves: Array = self._blocks.reshape(-1)[:n]
        self._sums = np.zeros(blocks)
        #: The least leaf of each block, infinite where all are zero.
        self._minima = np.full(blocks, np.inf)
        #: The sum of all blocks before each, and of all.
        self._running = np.zeros(blocks + 1)
        self._changed: list[Array] = []

    def set(self, index: Array, value: Array | float) -> None:
        """Set leaves. If an index is there twice, the last value counts."""
        self.leaves[index] = value
        self._changed.append(index)
        if len(self._changed) == _MOST_CHANGES:
            self._refresh()

    def total(self) -> float:
        """The sum of all leaves."""
        self._refresh()
        return float(self._running[-1])

    def minimum(self) -> float:
        """The least leaf that is not zero; infinite if all are zero."""
        self._refresh()
        return float(np.minimum.reduce(self._minima))

    def find(self, target: Array) -> Array:
        """Where the running sum of the leaves first exceeds each target, int64 [B]; no zero leaf.

        Args:
            target: float64 [B], 0 up to the total; a rounding error more is taken for the last
                leaf.
        """
        self._refresh()
        target = np.minimum(target, np.nextafter(self._running[-1], 0))
        block = self._running[1:].searchsorted(target, side="right")
        target -= self._running.take(block)
        running = torch.from_numpy(self._blocks.take(block, axis=0)).cumsum(1).numpy()
        # The sum of a block and the running sum of its leaves may differ by a rounding error.
        np.minimum(target, np.nextafter(running[:, -1], 0), out=target)
        found: Array = block * self._size + (running > target[:, None]).argmax(axis=1)
        return found

    def _refresh(self) -> None:
        """Sum the blocks anew whose leaves changed, once for all changes since the last search."""
        if not self._changed:
            return
        block = np.concatenate(self._changed) // self._size
        self._changed.clear()
        if len(block) > len(self._blocks):
            block = np.arange(len(self._blocks))
        leaves = self._blocks.take(block, axis=0)
        self._sums[block] = np.add.reduce(leaves, axis=1)
        least = np.minimum.reduce(leaves, axis=1)
        if not least.all():
            least = np.where(leaves > 0, leaves, np.inf).min(axis=1)
        self._minima[block] = least
        torch.cumsum(torch.from_numpy(self._sums), 0, out=torch.from_numpy(self._running[1:]))
