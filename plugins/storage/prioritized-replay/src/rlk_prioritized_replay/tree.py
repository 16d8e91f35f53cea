"""Sums and minima of many numbers, a few of which change at a time: the tree of prioritized replay.

A binary tree over 50,000 leaves has 16 levels, and each costs some numpy calls whatever the batch.
This one has a fan-out of 32 and stops at 2,048 nodes, whose running sum is computed outright: two
levels for 50,000 leaves, three for a million. (Measured, batch 32: 23 and 33 µs to find, against 76
µs for two levels of a million.)

A node is always summed anew from its children, never corrected by a difference: rounding errors
cannot pile up, and the sums depend on the leaves alone, not on their history.

Dimensions: n leaves, B batch.
"""

from __future__ import annotations

import numpy as np
import torch

from rlk.records import Array

_SHIFT = 5
_FAN_OUT = 1 << _SHIFT
_TOP = 2048
#: Calls of `set` after which the sums are brought up to date unasked: what waits is bounded.
_MOST_CHANGES = 1024


class SumTree:
    """Non-negative float64 leaves: their sum, least non-zero value, and search by running sum."""

    def __init__(self, n: int) -> None:
        self._sums = [np.zeros(_padded(n))]
        while len(self._sums[-1]) > _TOP:
            self._sums.append(np.zeros(_padded(len(self._sums[-1]) >> _SHIFT)))
        #: The least leaf under each node of `_sums[1:]`, infinite where all are zero.
        self._minima = [np.full(len(level), np.inf) for level in self._sums[1:]]
        self.leaves = self._sums[0][:n]
        self._running = np.zeros(len(self._sums[-1]) + 1)
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
        least = self._minima[-1] if self._minima else _without_zeros(self._sums[0])
        return float(np.minimum.reduce(least))

    def find(self, target: Array) -> Array:
        """Where the running sum of the leaves first exceeds each target, int64 [B]; no zero leaf.

        Args:
            target: float64 [B], 0 up to the total; a rounding error more is taken for the last
                leaf.
        """
        self._refresh()
        target = np.minimum(target, np.nextafter(self._running[-1], 0))
        node = self._running[1:].searchsorted(target, side="right")
        target -= self._running[node]
        rows = np.arange(len(target))
        for level in reversed(self._sums[:-1]):
            children = torch.from_numpy(level.reshape(-1, _FAN_OUT).take(node, axis=0))
            running = children.cumsum(1).numpy()  # in a third of numpy's time
            # A node and the running sum of its children may differ by a rounding error.
            np.minimum(target, np.nextafter(running[:, -1], 0), out=target)
            child = (running > target[:, None]).argmax(axis=1)
            before = running[rows, child - 1]
            before[child == 0] = 0.0
            target -= before
            node = node * _FAN_OUT + child
        return node

    def _refresh(self) -> None:
        """Sum anew above the leaves that changed, once for all changes since the last search."""
        if not self._changed:
            return
        node = np.concatenate(self._changed)
        self._changed.clear()
        for i, level in enumerate(self._sums[:-1]):
            blocks = level.reshape(-1, _FAN_OUT)
            node = node >> _SHIFT if len(node) < len(blocks) else np.arange(len(blocks))
            children = blocks.take(node, axis=0)
            self._sums[i + 1][node] = np.add.reduce(children, axis=1)
            below = self._minima[i - 1].reshape(-1, _FAN_OUT).take(node, axis=0) if i else children
            least = np.ascontiguousarray(below.T)  # by columns it takes half the time
            self._minima[i][node] = np.minimum.reduce(least if i else _without_zeros(least))
        np.add.accumulate(self._sums[-1], out=self._running[1:])


def _without_zeros(values: Array) -> Array:
    return np.where(values > 0, values, np.inf)


def _padded(n: int) -> int:
    """The least multiple of the fan-out that is n or more."""
    return -(-n // _FAN_OUT) * _FAN_OUT
