"""Where a replay keeps its arrays: in memory, or in files that are mapped into memory."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rlk.errors import OutOfMemory, RlkError
from rlk.files import users_path
from rlk.records import Array

#: `zeros(shape, dtype)`: an array of zeros that nothing else uses.
Zeros = Callable[[tuple[int, ...], Any], Array]

_FEWER = "Keep fewer transitions (buffer_size)"


def in_memory(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array in memory.

    Raises:
        OutOfMemory: if there is not enough.
    """
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # ValueError for more than numpy can count
        raise OutOfMemory(
            f"storage 'replay' needs {_gigabytes(_size(shape, dtype))} of memory at once, which "
            f"this machine does not give. {_FEWER}, or keep them on a disk: "
            "--set replay.mapped=FOLDER"
        ) from None


class Mapped:
    """Arrays in files of a folder; the system keeps the parts in use in memory.

    The files have no names. They disappear when the process ends, however it ends, and any number
    of runs may use a folder at the same time. Their whole size is reserved on the disk from the
    start, because a mapped file that finds the disk full later would end the process.

    Args:
        folder: created if it is missing; `~` is the user's own.
    """

    def __init__(self, folder: str) -> None:
        # Absolute, because the working folder may change.
        self._folder = users_path(folder).absolute()

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """An array in a file.

        Raises:
            RlkError: if the folder cannot be used, or its disk has too little room.
        """
        size = _size(shape, dtype)
        if not size:
            return np.zeros(shape, dtype)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self._folder).free
            if free < size:
                raise OSError(f"{_gigabytes(size)} are needed and {_gigabytes(free)} are free")
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _reserve(file.fileno(), size)
                return np.asarray(np.memmap(file, dtype, "r+", shape=shape))
        except OSError as error:
            raise RlkError(
                f"storage 'replay' cannot keep its transitions in {self._folder}: {error}. "
                f"{_FEWER}, or name another folder: --set replay.mapped=FOLDER"
            ) from error


def or_in_memory(zeros: Zeros) -> Zeros:
    """The same in memory, with a warning, where the folder has no room: for arrays that grow.

    A run need not end because its disk has filled up since it began.
    """
    if zeros is in_memory:
        return zeros

    def somewhere(shape: tuple[int, ...], dtype: Any) -> Array:
        try:
            return zeros(shape, dtype)
        except RlkError as error:
            size = _gigabytes(_size(shape, dtype))
            warnings.warn(
                f"{error}\nThis run goes on, with {size} of them in memory.",
                RuntimeWarning,
                stacklevel=2,
            )
            return in_memory(shape, dtype)

    return somewhere


def _reserve(file: int, size: int) -> None:
    """Reserve a file's size on the disk; if the system cannot, only set the size."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)


def _size(shape: tuple[int, ...], dtype: Any) -> int:
    return math.prod(shape) * int(np.dtype(dtype).itemsize)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
