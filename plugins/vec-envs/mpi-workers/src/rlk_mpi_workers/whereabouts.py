"""Where a rank that does not answer hangs: rank 0 asks, and a thread of that rank answers.

The thread checks for the question a few times a second. A rank whose compiled code holds the GIL
cannot answer, and neither can one whose MPI library does not support threads.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

from rlk_mpi_workers.messages import PLACE, WHERE, Mailbox
from rlk_vector_environments.stepping import place_of

#: Seconds between two checks for the question.
_EVERY_SECONDS = 0.2
#: How many calls of the stack are shown, beginning with the innermost.
_CALLS = 6


class Whereabouts:
    """Answers rank 0 while this rank is busy.

    Args:
        mpi: the module `mpi4py.MPI`. comm: the communicator of all ranks.
        learner: the rank that asks.
    """

    def __init__(self, mpi: Any, comm: Any, learner: int) -> None:
        self._mpi, self._comm, self._learner = mpi, comm, learner
        self._main = threading.get_ident()
        self._is_busy = False
        if mpi.Query_thread() == mpi.THREAD_MULTIPLE:
            threading.Thread(target=self._watch, daemon=True).start()

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """While it is entered, the thread checks for the question; else `Worker` receives it."""
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def answer(self, question: bytes, place: str) -> None:
        """Say where this rank is, with the number of the question."""
        answer = pickle.dumps((pickle.loads(question), place))
        self._comm.Send([answer, self._mpi.BYTE], self._learner, PLACE)

    def _watch(self) -> None:
        mailbox, pause = Mailbox(self._mpi, self._comm), threading.Event()
        while not pause.wait(_EVERY_SECONDS):
            if self._is_busy and mailbox.look(self._learner, WHERE):
                self.answer(mailbox.take(), self._place())

    def _place(self) -> str:
        frame = sys._current_frames().get(self._main)
        trace = "".join(traceback.format_stack(frame)[-_CALLS:]).rstrip()
        return f"{place_of(frame)}\nThe rank's traceback:\n{trace}"
