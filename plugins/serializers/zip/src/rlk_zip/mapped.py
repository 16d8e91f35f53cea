"""A large array or tensor that is assembled in a file and mapped into memory."""

from __future__ import annotations

import math
import sys
import tempfile
from typing import IO, Any

import numpy as np

from rlk.errors import RlkError

_FOREIGN = "the pieces of a tensor do not belong together"


class MappedRows:
    """Rows that arrive in pieces, are appended to a file, and are mapped into memory at the end.

    The file has no name: it is removed when the array is not used any more, or when the process
    ends, however it ends.

    Args:
        first: the first piece, [n, ...], an array or a tensor; the result is of the same type.
        folder: where the file is created. If it is None or not writable, the system's folder for
            temporary files is used.

    Raises:
        ValueError: for a single number, which has no rows.
        RlkError: if there is no room for the file.
    """

    def __init__(self, first: Any, folder: str | None) -> None:
        if not first.shape:
            raise ValueError(_FOREIGN)
        self._first, self._file, self._folder = first[:0], _nameless(folder), folder
        self._rows = 0
        self.append(first)

    def append(self, piece: Any) -> None:
        """Add rows [n, ...].

        Raises:
            ValueError: if their dtype or shape differs from those before.
            RlkError: if there is no room for them.
        """
        first = self._first
        is_alike = piece.dtype == first.dtype and piece.shape[1:] == first.shape[1:]
        if not piece.shape or not is_alike:
            raise ValueError(_FOREIGN)
        try:
            self._file.write(_bytes_of(piece))
        except OSError as error:
            raise RlkError(
                "a large array is put together in a temporary file in "
                f"{self._folder or tempfile.gettempdir()}, which has no room for it: "
                f"{error.strerror}. Make room there, or move what is read to a larger disk."
            ) from error
        self._rows += len(piece)

    def whole(self) -> Any:
        """All rows, [N, ...]."""
        first, shape = self._first, (self._rows, *self._first.shape[1:])
        size = math.prod(shape) * first.dtype.itemsize
        with self._file:
            self._file.flush()
            data = np.asarray(np.memmap(self._file, np.uint8, "r+", shape=(size,)))
        if isinstance(first, np.ndarray):
            return data.view(first.dtype).reshape(shape)
        return sys.modules["torch"].from_numpy(data).view(first.dtype).reshape(shape)


def _nameless(folder: str | None) -> IO[bytes]:
    """A new file without a name."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:  # a folder without permission to write
        return tempfile.TemporaryFile()


def _bytes_of(piece: Any) -> memoryview:
    """The bytes of an array or a tensor in C order."""
    if not isinstance(piece, np.ndarray):
        piece = piece.contiguous().flatten().view(sys.modules["torch"].uint8).numpy()
    return np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
