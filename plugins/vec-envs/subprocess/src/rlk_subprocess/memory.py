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

from rlk.errors import EnvironmentFailed
from rlk_vector_environments.step_arrays import Array, StepArrays, allocate

#: Room for what a worker says of itself when it is asked by a signal.
NOTE_BYTES = 512
_ALIGNMENT = 64  # bytes: a cache line, so that no two arrays share one


def create(n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> int:
    """A file descriptor of zeroed memory of the right size for what n environments need.

    Raises:
        EnvironmentFailed: if the system has not got so much memory, here or for this process. It is
            taken at once: a write to memory that is not there would kill the process.
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """
    arena = _Arena(None)
    allocate(observation_space, action_space, n, arena.new)
    arena.new((n, NOTE_BYTES), np.uint8)
    try:
        return _anonymous_file(arena.size)
    except OSError as error:
        raise EnvironmentFailed(
            f"the memory that {n} environments share with this process, {arena.size:,} bytes, is "
            f"not there: {error}. Use fewer environments, or --vec-env dummy, which shares none."
        ) from error


def _anonymous_file(size: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rlk-subprocess", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, size)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def attach(
    descriptor: int, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
) -> tuple[StepArrays, Array]:
    """What is in the memory behind that descriptor, which is closed; the arrays keep it alive.

    Returns:
        The arrays of steps, and notes, uint8 [N, NOTE_BYTES]: a worker writes into the row of its
        first environment.
    """
    try:
        arena = _Arena(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
    steps = allocate(observation_space, action_space, n, arena.new)
    return steps, arena.new((n, NOTE_BYTES), np.uint8)


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
