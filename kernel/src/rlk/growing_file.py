"""A file that grows for as long as a run lasts: rows of metrics, episodes, events.

Over weeks a disk is full for a while, a file system goes away in the middle of a write, and an
administrator moves the file away or empties it. None of this may leave half a row in the file or a
row twice.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from rlk.files import replacing

#: How long writing rests after it has failed, so that a full disk costs little time.
REST_SECONDS = 10.0


class GrowingFile:
    """A file that one writer appends to, all of the data at a time or nothing.

    The writer keeps what could not be written, and writes it within an `attempt` as soon as
    `is_due`, as well as with a checkpoint and at the end.

        rows.append(row)
        if file.is_due():
            with file.attempt():
                file.write(b"".join(rows), head)
            rows.clear()

    Attributes:
        path: where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._failed: float | None = None  # when the latest attempt failed
        self._broken_lengths = range(0)  # those of a file that holds a part of a failed write

    def is_due(self) -> bool:
        """Whether to write now: the latest attempt succeeded, or failed long enough ago."""
        return self._failed is None or time.monotonic() - self._failed >= REST_SECONDS

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Note whether a write within this context fails; its `OSError` is raised."""
        try:
            yield
        except OSError:
            self._failed = time.monotonic()
            raise
        self._failed = None

    def has_begun(self) -> bool:
        """Whether it is there and not empty."""
        return self._length() > 0

    def begin(self, content: bytes) -> None:
        """Replace the file, or make it.

        Raises:
            OSError: if that fails; the file then holds what it held before.
        """
        with replacing(self.path) as file:
            file.write(content)
        self._broken_lengths = range(0)

    def write(self, data: bytes, head: bytes) -> bool:
        """Add data to the end; a file that is missing or empty begins anew, with `head`.

        Returns:
            Whether it began anew: what it held before, if anything, is elsewhere or lost.

        Raises:
            OSError: if that fails. What the file then holds of the data is cut off at once, or by
                the next `write` where the file system is gone.
        """
        self.cut_broken_end()
        if not self.has_begun():
            self.begin(head + data)
            return True
        with self.path.open("r+b", buffering=0) as file:
            length = file.seek(0, os.SEEK_END)
            self._broken_lengths = range(length + 1, length + len(data) + 1)
            try:
                written = 0
                while written < len(data):
                    written += file.write(data[written:])
            except OSError:
                with contextlib.suppress(OSError):  # the file system is gone: the next one does it
                    file.truncate(length)
                raise
        self._broken_lengths = range(0)
        return False

    def cut_broken_end(self) -> None:
        """Cut off what a failed `write` has left, before anybody else reads or copies the file.

        A file of another length is not cut, because somebody else has changed or replaced it.

        Raises:
            OSError: if that fails.
        """
        if self._broken_lengths and self._length() in self._broken_lengths:
            os.truncate(self.path, self._broken_lengths.start - 1)
        self._broken_lengths = range(0)

    def _length(self) -> int:
        """In bytes; 0 where there is no file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0
