"""When a failed write is tried again: not with every row, so that a full disk costs little time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

#: How long a write rests after it has failed.
SECONDS = 10.0


class Retries:
    """The attempts to write one file."""

    def __init__(self) -> None:
        self._failed: float | None = None  # when the latest attempt did

    def are_due(self) -> bool:
        """Whether the latest attempt succeeded, or failed long enough ago."""
        return self._failed is None or time.monotonic() - self._failed >= SECONDS

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Note whether a write within this context fails; its `OSError` is raised."""
        try:
            yield
        except OSError:
            self._failed = time.monotonic()
            raise
        self._failed = None
