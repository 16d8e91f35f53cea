"""Which run a callback listens to, for callbacks that begin anew with another one."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.run import Run


class ListenedTo:
    """The run that a callback listens to; one object may serve several runs, one after another."""

    def __init__(self) -> None:
        self._run: weakref.ref[Run] | None = None

    def is_new(self, run: Run) -> bool:
        """Whether this is another run than last time, of which nothing is known yet."""
        if self._run is not None and self._run() is run:
            return False
        self._run = weakref.ref(run)
        return True
