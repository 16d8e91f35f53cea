"""The latest k frames of N environments as arrays; `frame_stack.py` makes observations of them.

A frame is one array of a Box, as one environment returns it in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import channels_first

Order = Literal["first", "last"]


@dataclass(frozen=True)
class Layout:
    """How the frames of a stack are arranged, the oldest first.

    Attributes:
        k: frames of a stack.
        frame: the shape of a frame. A frame of two axes is an image without channels and gets an
            axis of one channel here.
        axis: the axis of the frame along which frames are concatenated.
    """

    k: int
    frame: tuple[int, ...]
    axis: int

    @property
    def joined(self) -> tuple[int, ...]:
        """The shape of a stack as it is observed."""
        size = self.k * self.frame[self.axis]
        return (*self.frame[: self.axis], size, *self.frame[self.axis + 1 :])

    @property
    def memory(self) -> tuple[int, ...]:
        """The shape of the array that holds a stack.

        In it, frames of one channel are contiguous, so that each is copied as a whole, which is far
        faster than pixel by pixel.
        """
        before, after = self.frame[: self.axis], self.frame[self.axis + 1 :]
        if self.frame[self.axis] == 1:
            return (self.k, *before, *after)
        return (*before, self.k, self.frame[self.axis], *after)

    def frames(self, memory: Array) -> Array:
        """The arrays of N stacks as frames [N, k, *frame]: a view."""
        if self.frame[self.axis] == 1:
            return np.expand_dims(memory, self.axis + 2)
        return np.moveaxis(memory, self.axis + 1, 1)

    def stacks(self, memory: Array) -> Array:
        """The arrays of N stacks as [N, *joined]: a view."""
        if self.frame[self.axis] == 1:
            return np.moveaxis(memory, 1, self.axis + 1)
        return memory.reshape(len(memory), *self.joined)

    def space(self, space: spaces.Box, with_zero: bool) -> spaces.Box:
        """The space of stacks of this Box's frames; its bounds may be widened to include zero."""
        zero = space.dtype.type(0)
        low, high = space.low, space.high
        if with_zero and self.k > 1:
            low, high = np.minimum(low, zero), np.maximum(high, zero)
        bounds = [
            np.repeat(np.expand_dims(bound.reshape(self.frame), self.axis), self.k, self.axis)
            for bound in (low, high)
        ]
        low, high = (bound.reshape(self.joined) for bound in bounds)
        return spaces.Box(low, high, dtype=space.dtype.type)


def layout_of(shape: tuple[int, ...], k: int, order: Order | None) -> Layout:
    """How frames of a shape are stacked.

    Images are concatenated along their channels: on the first axis or the last; if `order` is None,
    on the first if it is the shortest of all. An array of two axes is an image without channels;
    with None, the frames are its new first axis, as in Gymnasium. Other arrays are concatenated
    along their last axis.
    """
    if len(shape) == 2:
        first = order != "last"
        return Layout(k, (1, *shape) if first else (*shape, 1), 0 if first else 2)
    if len(shape) == 3:
        first = channels_first(shape) if order is None else order == "first"
        return Layout(k, shape, 0 if first else 2)
    return Layout(k, shape, len(shape) - 1)


class Frames:
    """The latest k frames of N environments.

    Args:
        space: of a frame.
        layout: of the stacks.
        n_envs: N.
        repeat: whether an episode begins with k copies of its first frame, instead of zeros and it.
    """

    def __init__(self, space: spaces.Box, layout: Layout, n_envs: int, *, repeat: bool) -> None:
        self._layout, self._repeat = layout, repeat
        self._batch = (n_envs, *layout.frame)
        # Two arrays take turns, so that a returned stack stays valid during the next step.
        self._memory = [np.zeros((n_envs, *layout.memory), space.dtype) for _ in range(2)]
        self._frames = [layout.frames(memory) for memory in self._memory]
        self._turn = 0

    def begin(self, frame: Array, which: Array) -> Array:
        """Stacks [N, *joined] after a reset of the environments in `which`, bool [N].

        Args:
            frame: [N, ...], the first one of each episode that began.
        """
        before, after = self._turned()
        after[...] = before
        frame = frame.reshape(self._batch)
        for env in np.flatnonzero(which):
            self._restart(after[env], frame[env])
        return self._stacks()

    def follow(self, frame: Array, finals: dict[int, Array]) -> tuple[Array, dict[int, Array]]:
        """Stacks [N, *joined] after a step, and the stacks of final observations.

        Args:
            frame: [N, ...]; where an episode ended, the first one of the next episode.
            finals: the last frame of the episodes that ended, by environment.
        """
        before, after = self._turned()
        frame = frame.reshape(self._batch)
        after[:, :-1] = before[:, 1:]
        after[:, -1] = frame
        ended = {}
        for env, final in finals.items():
            after[env, -1] = final.reshape(self._batch[1:])
            ended[env] = self._stacks()[env].copy("C")
            self._restart(after[env], frame[env])
        return self._stacks(), ended

    def _turned(self) -> tuple[Array, Array]:
        """The frames [N, k, *frame] of the step before, and the array for those of this step."""
        before = self._frames[self._turn]
        self._turn ^= 1
        return before, self._frames[self._turn]

    def _restart(self, frames: Array, first: Array) -> None:
        """Fill the frames [k, *frame] of one environment with the start of an episode."""
        frames[...] = first if self._repeat else 0
        frames[-1] = first

    def _stacks(self) -> Array:
        return self._layout.stacks(self._memory[self._turn])

    def state(self) -> list[Array]:
        """The stacks of every environment, copied."""
        return list(self._stacks().copy("C"))

    def load(self, stacks: list[Array]) -> None:
        """Continue from the result of `state`."""
        self._stacks()[...] = np.stack(stacks)
