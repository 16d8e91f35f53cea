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

from rlk.errors import EnvironmentFailed
from rlk_vector_environments.step_arrays import Array, StepArrays, allocate

#: Room for what a worker says of itself when it is asked by a signal.
NOTE_BYTES = 512
_ALIGNMENT = 64  # bytes: a cache line, so that no two arrays share one


class Layout(NamedTuple):
    """What decides where each array is."""

    n: int  #: environments
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    info_keys: tuple[str, ...] | None  #: numbers that are kept of every info

    def steps(self, arena: _Arena) -> StepArrays:
        """The arrays of steps, cut off that memory."""
        return allocate(
            self.observation_space, self.action_space, self.n, self.info_keys, arena.new
        )

    def notes(self, arena: _Arena) -> Array:
        """Where workers write down what they do, cut off that memory after `steps`."""
        return arena.new((self.n, NOTE_BYTES), np.uint8)


def create(layout: Layout) -> int:
    """A file descriptor of zeroed memory of the right size.

    Raises:
        EnvironmentFailed: if the system has not got so much memory, here or for this process. It is
            taken at once: a write to memory that is not there would kill the process.
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """
    arena = _Arena(None)
    layout.steps(arena)
    layout.notes(arena)
    try:
        return _anonymous_file(arena.size)
    except OSError as error:
        raise EnvironmentFailed(
            f"the memory that {layout.n} environments share with this process, {arena.size:,} "
            f"bytes, is not there: {error}. Use fewer environments, or --vec-env dummy, which "
            "shares none."
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


def attach(descriptor: int, layout: Layout) -> tuple[StepArrays, Array]:
    """What is in the memory behind that descriptor, which is closed; the arrays keep it alive.

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
