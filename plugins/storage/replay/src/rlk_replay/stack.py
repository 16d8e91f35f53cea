"""The layout of frames in an observation that is a stack of them.

Dimensions: k frames of a stack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlk.records import Array
from rlk.spaces import channels_first
from rlk_replay.layout import PACKED_BYTES
from rlk_stored_steps.leaves import Leaf


@dataclass(frozen=True)
class Stack:
    """The layout of the frames in one array of an observation, the oldest first.

    Attributes:
        k: frames.
        shape: of the array.
        is_first: whether they are stacked on the first axis; else on the last.
    """

    k: int
    shape: tuple[int, ...]
    is_first: bool

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape of one frame; an axis of several channels per frame keeps those."""
        if not self.is_first:
            return (*self.shape[:-1], self.shape[-1] // self.k)
        channels = self.shape[0] // self.k
        return self.shape[1:] if channels == 1 else (channels, *self.shape[1:])

    def split(self, values: Array) -> Array:
        """Stacks [..., *shape] as frames [..., k, *frame]."""
        leading = values.shape[: values.ndim - len(self.shape)]
        if self.is_first:
            return values.reshape(*leading, self.k, *self.frame)
        frames = values.reshape(*leading, *self.shape[:-1], self.k, self.frame[-1])
        return np.moveaxis(frames, -2, len(leading))

    def join(self, frames: Array) -> Array:
        """Frames [..., k, *frame] as stacks [..., *shape]."""
        leading = frames.shape[: frames.ndim - len(self.frame) - 1]
        if not self.is_first:
            frames = np.moveaxis(frames, len(leading), -2)
        return frames.reshape(*leading, *self.shape)


def stack_of(leaf: Leaf, k: int) -> Stack | None:
    """The stack layout of an array, if observations are stacks of k frames.

    Frames are stacked on the first axis if that is k long, as Gymnasium stacks them; else along the
    axis of the channels. Small arrays are not treated as stacks: they take less memory unchanged.
    """
    if k < 2 or not leaf.shape or leaf.size <= PACKED_BYTES:
        return None
    if leaf.shape[0] == k:
        return Stack(k, leaf.shape, is_first=True)
    is_first = len(leaf.shape) > 1 and channels_first(leaf.shape)
    channels = leaf.shape[0 if is_first else -1]
    return Stack(k, leaf.shape, is_first) if channels % k == 0 else None
