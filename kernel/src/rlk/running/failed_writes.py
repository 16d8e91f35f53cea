"""What happens when a write fails: training continues, and what is missing is listed.

A full disk, a deleted folder, a file system that does not answer: none of them should cost the
training done so far. So an `OSError` that a plugin raises between iterations does not end the run.
The first one is printed, all are counted, and the end of the run reports what is missing.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import attrs

from rlk.errors import RlkError


@attrs.define
class _Failure:
    """How often one writer failed, and the latest reason."""

    times: int
    reason: str


class FailedWrites:
    """The writes of one run that failed; false while there are none."""

    def __init__(self) -> None:
        self._by_writer: dict[str, _Failure] = {}

    def __bool__(self) -> bool:
        return bool(self._by_writer)

    def __str__(self) -> str:
        """Who could not write, how often, and why, one line for each."""
        lines = [
            f"  {writer}, {failure.times} time{'s' if failure.times > 1 else ''}: {failure.reason}"
            for writer, failure in self._by_writer.items()
        ]
        return "\n".join(["not everything could be written:", *lines])

    def note(self, writer: str, error: Exception) -> None:
        """Remember that a write failed; the first one of a run is printed.

        Raises:
            BrokenPipeError: if it is one: the reader of the output wants no more (`| head`).
        """
        if isinstance(error, BrokenPipeError):
            raise error
        reason = str(error)
        if not self._by_writer:
            self._print(
                f"a write failed ({writer}): {reason}\n"
                "That does not end the training; what is missing is listed at its end."
            )
        before = self._by_writer.get(writer, _Failure(0, ""))
        self._by_writer[writer] = _Failure(before.times + 1, reason)

    @contextlib.contextmanager
    def tolerated(self, writer: str) -> Iterator[None]:
        """Note an `OSError` raised within this context, and continue after it."""
        try:
            yield
        except OSError as error:
            self.note(writer, error)

    def check(self) -> None:
        """Raise RlkError if anything could not be written."""
        if self._by_writer:
            raise RlkError(f"{self}\nEverything else was kept.")

    def clear(self) -> None:
        """Forget all failures: a new call of `learn` begins."""
        self._by_writer.clear()

    @staticmethod
    def _print(text: str) -> None:
        with contextlib.suppress(OSError):  # stderr may be a file on the same full disk
            print(f"\n{text}", file=sys.stderr, flush=True)
