"""The frames of stacked observations, each kept once.

An observation that is a stack of the latest k frames shares all but one of them with the stack
before. So the ring keeps k numbers for every observation, and a pool keeps the frames. A frame
that was in the stack before keeps its number; if a stack is not the previous one shifted by a
frame (after a reset), all its frames are new, except those that repeat. So every observation is
restored bit for bit, and only stacks take less memory.

Numbers are assigned in the order in which frames come. A step needs no number below those of the
step before it in its environment, so the frames needed are those from the lowest number of the
oldest step on: the pool is also a ring. Besides one frame for each transition it needs room that
depends on how often episodes end (a first frame and a final one each). It has some room for these,
and grows if that is too little.

Dimensions: k frames of a stack, N environments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rlk.protocols import State
from rlk.records import Array
from rlk_replay.memory import Zeros, or_in_memory
from rlk_replay.stack import Stack
from rlk_stored_steps.leaves import Leaf
from rlk_stored_steps.same_bits import comparison

#: A pool has this fraction more frames than there are transitions, and grows by this fraction.
_ROOM, _GROWTH = 1 / 16, 1 / 4
#: Frames that are copied at a time when a pool grows.
_AT_A_TIME = 1024


class FramePool:
    """The frames of one array of the observations, and the frames of the latest stacks."""

    def __init__(self, leaf: Leaf, stack: Stack, n_envs: int, zeros: Zeros) -> None:
        self._stack, self._dtype, self._zeros = stack, leaf.dtype, zeros
        self._frames = np.zeros((0, *stack.frame), leaf.dtype)
        self._first = self._next = 0  # numbers: of the oldest frame needed, and of the next to come
        #: [N, k, *frame] and int64 [N, k]: the stacks that the environments' next steps begin with.
        self._latest = np.zeros((n_envs, stack.k, *stack.frame), leaf.dtype)
        self._numbers = np.full((n_envs, stack.k), -1)
        shared = leaf.size // stack.k * (stack.k - 1)
        self._equal, self._equal_shared = comparison(leaf.size), comparison(shared)
        self._equal_frames = comparison(leaf.size // stack.k)

    def allocate(self, transitions: int) -> None:
        """Become empty, with memory for the frames of so many transitions."""
        n_envs, k = self._numbers.shape
        rows = transitions + int(transitions * _ROOM) + 2 * k * n_envs if transitions else 0
        self._frames = self._zeros((rows, *self._stack.frame), self._dtype)
        self._first = self._next = 0
        self._numbers = np.full((n_envs, k), -1)

    def store(self, step: Sequence[Any], finals: Mapping[int, Any]) -> tuple[Any, Any, Any]:
        """Store the new frames of a step; return the numbers that stand for its stacks.

        Args:
            step: observation and next observation, [N, *shape].
            finals: final observations, [*shape], by environment.

        Returns:
            int64 [N, k], of the observation; the same of the next one; int64 [k] by environment.
        """
        observation, following = (self._frames_of(values) for values in step)
        envs = range(len(self._numbers))
        for env in envs:
            seen = np.ascontiguousarray(observation[env])
            if self._numbers[env, 0] < 0 or not self._equal(seen, self._latest[env]):
                self._numbers[env] = self._numbered(env, seen)
                self._latest[env] = seen
        numbers = self._numbers.copy()
        ends = {
            env: self._numbered(env, np.ascontiguousarray(self._frames_of(final)))
            for env, final in finals.items()
        }
        for env in envs:
            seen = np.ascontiguousarray(following[env])
            self._numbers[env] = self._numbered(env, seen)
            self._latest[env] = seen
        return numbers, self._numbers, ends

    def _frames_of(self, stacks: Any) -> Array:
        """The frames of stacks [..., *shape], as they are kept, [..., k, *frame]."""
        return self._stack.split(np.asarray(stacks, self._dtype))

    def _numbered(self, env: int, frames: Array) -> list[int]:
        """The numbers of a stack that came after this environment's latest one."""
        numbers: list[int] = self._numbers[env].tolist()
        if numbers[0] >= 0 and self._equal_shared(frames[:-1], self._latest[env, 1:]):
            return [*numbers[1:], self._add(frames[-1])]
        found = [self._add(frames[0])]
        for before, frame in pairwise(frames):
            found.append(found[-1] if self._equal_frames(before, frame) else self._add(frame))
        return found

    def _add(self, frame: Array) -> int:
        """Store a frame and return its number."""
        number = self._next
        if number - self._first == len(self._frames):
            self._grow()
        self._frames[number % len(self._frames)] = frame
        self._next = number + 1
        return number

    def _grow(self) -> None:
        old = self._frames
        more = max(int(len(old) * _GROWTH), self._stack.k)
        larger = or_in_memory(self._zeros)
        self._frames = larger((len(old) + more, *self._stack.frame), self._dtype)
        for begin in range(self._first, self._next, _AT_A_TIME):
            number = np.arange(begin, min(begin + _AT_A_TIME, self._next))
            self._frames[number % len(self._frames)] = old[number % len(old)]

    def release(self, oldest: Array) -> None:
        """Release the frames before those of the oldest step that is kept, int64 [N, k]."""
        self._first = int(oldest.min())

    def stacks(self, numbers: Array) -> Array:
        """The stacks that numbers [..., k] stand for, [..., *shape]."""
        return self._stack.join(self._frames.take(numbers % len(self._frames), axis=0))

    def state_dict(self) -> State:
        """Arrays as they are, not copied."""
        return {
            "rows": len(self._frames),
            "first": self._first,
            "next": self._next,
            "frames": self._frames[: self._next],
            "numbers": self._numbers,
        }

    def load_state_dict(self, state: State) -> None:
        """Load the result of `state_dict`."""
        if state["rows"] != len(self._frames):
            self._frames = self._zeros((state["rows"], *self._stack.frame), self._dtype)
        self._first, self._next = state["first"], state["next"]
        self._frames[: self._next] = state["frames"]
        self._numbers = np.array(state["numbers"])
        if self._next:
            self._latest[...] = self._frames.take(self._numbers % len(self._frames), axis=0)
