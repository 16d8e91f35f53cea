"""The memory that the learner and its workers share: one anonymous file with a fixed layout.

The file has no name in any file system, so nothing remains of it, however the processes end. N is
the number of environments.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk.errors import EnvironmentFailed
from rlk.records import Array
from rlk_vector_environments.step_arrays import StepArrays, allocate

#: Room for a worker's answer, when a signal asks where it hangs.
NOTE_BYTES = 512
_ALIGNMENT = 64  # bytes: a cache line, so that no two arrays share one


class Layout(NamedTuple):
    """The settings that determine where each array is."""

    n: int  #: environments
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    info_keys: tuple[str, ...] | None  #: keys of numbers in infos that are kept

    def steps(self, arena: _Arena) -> StepArrays:
        """The arrays of steps, allocated in that memory."""
        return allocate(
            self.observation_space, self.action_space, self.n, self.info_keys, arena.new
        )

    def notes(self, arena: _Arena) -> Array:
        """Where workers write their answers, allocated in that memory after `steps`."""
        return arena.new((self.n, NOTE_BYTES), np.uint8)


def create(layout: Layout) -> int:
    """Create zeroed memory of the right size; returns its file descriptor.

    Raises:
        EnvironmentFailed: if the system, or this process's limit, does not provide that much
            memory. All of it is reserved at once, because a write to missing memory would kill the
            process.
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """
    arena = _Arena(None)
    layout.steps(arena)
    layout.notes(arena)
    try:
        return _anonymous_file(arena.size)
    except OSError as error:
        raise EnvironmentFailed(
            f"the memory that workers share with this process, {arena.size:,} bytes for "
            f"n_envs={layout.n}, cannot be allocated: {error}. Use fewer environments, or "
            "--vec-env dummy, which shares none."
        ) from error


def _anonymous_file(size: int) -> int:
    descriptor: int
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rlk-subprocess")  # which no started program inherits
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


def attach(descriptor: int, layout: Layout) -> tuple[StepArrays, Array]:
    """The arrays in the memory of that descriptor, which is closed; they keep the memory alive.

    Returns:
        The arrays of steps, and notes, uint8 [N, NOTE_BYTES]: a worker writes into the row of its
        first environment.
    """
    try:
        arena = _Arena(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
    return layout.steps(arena), layout.notes(arena)


class _Arena:
    """Allocates arrays in a piece of memory, one after the other; without memory it measures."""

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
