"""The call of `learn` or `learn_until` by which a thread trains a run."""

from __future__ import annotations

import threading


class LearningCall:
    """A call that is under way, in the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self.ended = threading.Event()

    @property
    def is_elsewhere(self) -> bool:
        """Whether another thread made the call."""
        return self._thread != threading.get_ident()
