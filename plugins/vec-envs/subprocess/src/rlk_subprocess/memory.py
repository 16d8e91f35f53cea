"""The memory that the learner and its workers share: one anonymous file, laid out alike by both.

The file has no name in any file system, so nothing is left of it however the processes end. N is
the number of environments.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk_vector_rows import rows

Array = np.ndarray[Any, np.dtype[Any]]
_ALIGNMENT = 64  # bytes: a cache line, so that no two arrays share one


class Slot(NamedTuple):
    """What one step writes; there are two, used in turn."""

    observation: rows.Tree
    reward: Array
    terminated: Array
    truncated: Array


class Shared(NamedTuple):
    """Every array that crosses between the learner and the workers.

    Attributes:
        slots: what steps return: float32 reward [N], bool terminated and truncated [N].
        final: what an episode ended on, in the rows of the environments where one just did.
        actions: of the coming step.
    """

    slots: tuple[Slot, Slot]
    final: rows.Tree
    actions: rows.Tree

    def part(self, start: int, stop: int) -> Shared:
        """The rows start to stop of everything."""
        slots = [Slot(*(rows.window(tree, start, stop) for tree in slot)) for slot in self.slots]
        windows = (rows.window(tree, start, stop) for tree in (self.final, self.actions))
        return Shared((slots[0], slots[1]), *windows)


def create(n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> int:
    """A file descriptor of zeroed memory of the right size.

    Raises:
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """
    arena = _Arena(None)
    _lay_out(n, observation_space, action_space, arena)
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rlk-subprocess", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, arena.size)
    return descriptor


def attach(
    descriptor: int, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
) -> Shared:
    """The arrays in the memory behind that descriptor, which is closed; they keep it alive."""
    try:
        arena = _Arena(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
    return _lay_out(n, observation_space, action_space, arena)


class _Arena:
    """Cuts arrays off a piece of memory, one after the other; without memory it only measures."""

    def __init__(self, memory: mmap.mmap | None) -> None:
        self.size = 0
        self._memory = memory

    def new(self, shape: tuple[int, ...], dtype: Any) -> Array:
        dtype = np.dtype(dtype)
        start = -(-self.size // _ALIGNMENT) * _ALIGNMENT
        self.size = start + dtype.itemsize * int(np.prod(shape))
        if self._memory is None:
            return np.broadcast_to(np.zeros((), dtype), shape)
        return np.ndarray(shape, dtype, self._memory, start)


def _lay_out(
    n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any], arena: _Arena
) -> Shared:
    def slot() -> Slot:
        observation = rows.allocate(observation_space, n, arena.new)
        flags = [arena.new((n,), np.bool_) for _ in range(2)]
        return Slot(observation, arena.new((n,), np.float32), *flags)

    final = rows.allocate(observation_space, n, arena.new)
    return Shared((slot(), slot()), final, rows.allocate(action_space, n, arena.new))
