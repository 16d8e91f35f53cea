"""The learner's side of the job: rank 0, for which all other ranks host environments."""

from __future__ import annotations

import atexit
import itertools
import math
import pickle
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from rlk_mpi.extension import LAUNCH
from rlk_mpi_workers.messages import COMMAND, PLACE, WAITING, WHERE, Mailbox
from rlk_ranks.guard import ALONE, Guard
from rlk_vector_environments import sent_code
from rlk_vector_environments.worker_side import loads

Patience = Callable[[float], None] | None
#: Seconds within which a rank must say where it hangs.
_ANSWER_SECONDS = 1.0
#: Seconds within which a rank that is not closing environments must receive the learner's end.
_LEAVE_SECONDS = 2.0


class Learner:
    """Rank 0's communication with the other ranks, apart from steps.

    Attributes:
        mpi: the module `mpi4py.MPI`. comm: the communicator of all ranks.
        worker_ranks: the ranks that host environments.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        guard.phase = ALONE
        ranks: Any = guard.ranks
        self.mpi, self.comm = ranks.mpi, ranks.comm
        self.worker_ranks = range(1, ranks.size)
        self._mailbox = Mailbox(self.mpi, self.comm)
        self._vectors: set[int] = set()
        self._sending: list[tuple[Any, bytes]] = []
        self._questions = 0  # where a rank hangs
        self._timeout_seconds = 0.0  # the longest of all vectors
        self._closing: set[int] = set()  # ranks that may still close environments
        self._has_said_so = False

    def new_vector(self, timeout_seconds: float | None) -> int:
        """An unused number for a vector environment, whose ranks may take so long to answer."""
        limit = math.inf if timeout_seconds is None else timeout_seconds
        self._timeout_seconds = max(self._timeout_seconds, limit)
        number = next(n for n in itertools.count() if n not in self._vectors)
        self._vectors.add(number)
        return number

    def forget_vector(self, number: int) -> None:
        """Forget a vector environment that is closed on all ranks."""
        self._vectors.discard(number)

    def note_closing(self, rank: int) -> None:
        """Note that a rank was told to close environments, and has not answered yet."""
        self._closing.add(rank)

    def tell(self, rank: int, what: Any) -> None:
        """Send a command without waiting, because a rank that hangs does not receive it."""
        self._send(rank, COMMAND, sent_code.dumps(what))

    def _send(self, rank: int, tag: int, data: bytes) -> None:
        request = self.comm.Isend([data, self.mpi.BYTE], rank, tag)
        self._sending = [one for one in self._sending if not one[0].Test()]
        self._sending.append((request, data))

    def wait_for(self, rank: int, tag: int, still_waiting: Patience = None) -> None:
        """Wait for a message; `still_waiting` is that of `Waiting.until`."""
        WAITING.until(lambda: self._mailbox.look(rank, tag), still_waiting)

    def take(self) -> Any:
        """The unpickled content of the message that `wait_for` found, or a Failure."""
        return loads(self._mailbox.take(), "what its environments gave")

    def take_into(self, memory: Any) -> None:
        """Receive that message into the memory that a `StepMessages` describes."""
        self._mailbox.take_into(memory)

    def where(self, rank: int) -> str | None:
        """Where in its code a rank that does not answer is; None if it cannot say."""
        self._questions += 1  # a late answer to an earlier one is not taken for the answer
        self._send(rank, WHERE, pickle.dumps(self._questions))
        until = time.monotonic() + _ANSWER_SECONDS
        try:
            while True:
                self.wait_for(rank, PLACE, _give_up_after(until - time.monotonic()))
                question, place = self.take()
                if question == self._questions:
                    return str(place)
        except TimeoutError:
            return None

    def release(self) -> None:
        """Release the other ranks, when they have closed their environments.

        All end if a rank does not receive this, or takes longer than its timeout to close them.
        """
        for rank in self.worker_ranks:
            self.tell(rank, ("leave",))
        now, until = time.monotonic(), time.monotonic() + _LEAVE_SECONDS
        try:
            for rank in self.worker_ranks:
                is_closing = rank in self._closing
                self._wait_for_end(rank, now + self._timeout_seconds if is_closing else until)
            for rank in self.worker_ranks:
                self._wait_for_end(rank, until + self._timeout_seconds)
        except KeyboardInterrupt:
            self._guard.end("mpi-workers: Ctrl-C came before all ranks had ended; all end.", 130)
        for request, _ in self._sending:
            request.Wait()

    def _wait_for_end(self, rank: int, until: float) -> None:
        """Wait for an answer to the command to leave."""

        def still_waiting(waited: float) -> None:
            if time.monotonic() > until:
                raise TimeoutError
            if waited > _LEAVE_SECONDS and not self._has_said_so:
                self._has_said_so = True
                text = "still closes its environments, and rank 0 waits for it. Ctrl-C ends all."
                print(f"mpi-workers: rank {rank} {text}", file=sys.stderr, flush=True)

        try:
            self.wait_for(rank, COMMAND, still_waiting)
            self.take()
        except TimeoutError:
            name = f"mpi-workers: rank {rank}"
            self._guard.end(f"{name} does not answer to the end of rank 0, and all end.", 1)


@cache
def learner() -> Learner | None:
    """Rank 0's side, if there are other ranks; None if there are not.

    Raises:
        RuntimeError: on another rank.
    """
    guard = LAUNCH.enter()
    if guard is None:
        return None
    if guard.ranks.rank != 0:
        raise RuntimeError(
            f"rank {guard.ranks.rank} hosts environments for rank 0 and makes no vector of "
            "its own. Call rlk_mpi_workers.host() on every rank but 0."
        )
    atexit.register(release)
    return Learner(guard)


def release() -> None:
    """Release the other ranks: `host` returns there. This also happens when the process ends.

    Vector environments that are still open cannot be used afterwards.
    """
    if learner.cache_info().currsize and (mine := learner()) is not None:
        learner.cache_clear()
        atexit.unregister(release)
        mine.release()


def _give_up_after(seconds: float) -> Patience:
    def still_waiting(waited: float) -> None:
        if waited > seconds:
            raise TimeoutError

    return still_waiting
