"""What happens when a write fails: training continues, and what is missing is listed.

A full disk, a deleted folder, a file system that does not answer: none of them should cost the
training done so far. So an `OSError` that a plugin raises between iterations does not end the run.
The first one of each writer is printed, and so is the first one after it has written again: that a
disk which had been freed is full anew is news. All are counted, and the end of the run reports what
is missing: a writer that has written later what it could not write before is not among it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import attrs

from rlk.errors import RlkError
from rlk.terminal import output_is_unread, print_on


@attrs.define
class _Failure:
    """How often one writer failed, and the latest reason."""

    times: int = 0
    reason: str = ""
    goes_on: bool = False  #: whether it has written nothing since


class FailedWrites:
    """The writes of one run that failed, and are still missing; false while there are none."""

    def __init__(self) -> None:
        self._by_writer: dict[str, _Failure] = {}

    def __contains__(self, writer: str) -> bool:
        return writer in self._by_writer

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
        """Remember that a write failed; the first of those without a success between is printed.

        Raises:
            BrokenPipeError: if it is one of the output, whose reader wants no more (`| head`).
        """
        if output_is_unread(error):
            raise error
        before, reason = self._by_writer.get(writer, _Failure()), str(error)
        if not before.goes_on:
            self._announce(writer, reason)
        self._by_writer[writer] = _Failure(before.times + 1, reason, goes_on=True)

    def succeeded(self, writer: str) -> None:
        """A writer that may have failed has written: should it fail again, that is printed."""
        if writer in self._by_writer:
            self._by_writer[writer].goes_on = False

    def recovered(self, writer: str) -> None:
        """A writer that may have failed has written everything: nothing of it is missing."""
        self._by_writer.pop(writer, None)

    @contextlib.contextmanager
    def tolerated(self, writer: str) -> Iterator[None]:
        """Note an `OSError` raised within this context, and continue after it."""
        try:
            yield
        except OSError as error:
            self.note(writer, error)

    def tolerating(self, function: Callable[[], None]) -> None:
        """Call a function that may write: an `OSError` is noted as one of its module."""
        with self.tolerated(getattr(function, "__module__", None) or "a plugin"):
            function()

    def check(self) -> None:
        """Raise RlkError if anything is missing."""
        if self._by_writer:
            raise RlkError(f"{self}\nEverything else was kept.")

    def clear(self) -> None:
        """Forget all failures: a new call of `learn` begins."""
        self._by_writer.clear()

    def _announce(self, writer: str, reason: str) -> None:
        text = f"a write failed ({writer}): {reason}"
        if not self._by_writer:
            text += "\nThat does not end the training; what is missing is listed at its end."
        with contextlib.suppress(OSError):  # stderr may be a file on the same full disk
            print_on(sys.stderr, f"\n{text}")
