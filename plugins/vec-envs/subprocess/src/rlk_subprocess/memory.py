"""The memory that the learner and its workers share: one anonymous file, laid out alike by both.

The file has no name in any file system, so nothing is left of it however the processes end. N is
the number of environments.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any

import gymnasium as gym
import numpy as np

from rlk_vector_environments.step_arrays import Array, StepArrays, allocate

_ALIGNMENT = 64  # bytes: a cache line, so that no two arrays share one


def create(n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> int:
    """A file descriptor of zeroed memory of the right size for the arrays of n environments.

    Raises:
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """
    arena = _Arena(None)
    allocate(observation_space, action_space, n, arena.new)
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rlk-subprocess", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, arena.size)
    return descriptor


def attach(
    descriptor: int, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
) -> StepArrays:
    """The arrays in the memory behind that descriptor, which is closed; they keep it alive."""
    try:
        arena = _Arena(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
    return allocate(observation_space, action_space, n, arena.new)


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
