"""Ends all ranks when one of them fails; otherwise the others would wait for it for ever.

In plain Python a rank that raises or exits leaves the others in an all-reduce. Here every failure
while ranks work together ends in MPI's Abort, after the rank's number was printed.
"""

from __future__ import annotations

import atexit
import sys
import time
import traceback
from functools import cache
from types import TracebackType
from typing import Any

from rlk.errors import RlkError
from rlk_mpi.shared_memory import remove_names
from rlk_mpi.watchdog import Watchdog
from rlk_mpi.world import World, world

#: What ranks do: each plans by itself; they build and train together; after training each is
#: alone again.
PLANNING, TOGETHER, ALONE = "planning", "together", "alone"
#: How long a rank that was refused waits for the others to be refused as well.
LEAVE_SECONDS = 5.0
#: How long the launcher gets to forward what was printed before Abort.
PRINT_SECONDS = 0.3


@cache
def guard() -> Guard | None:
    """The guard of this process, set up when it is first asked for; None for one rank alone."""
    ranks = world()
    return None if ranks is None else Guard(ranks)


class Guard:
    """Watches how this process ends, and over the other ranks of this machine.

    Attributes:
        phase: what ranks do now.
    """

    def __init__(self, ranks: World) -> None:
        self.ranks, self.phase = ranks, PLANNING
        self._hook = sys.excepthook
        remove_names(ranks)
        self._watchdog = Watchdog(ranks)
        sys.excepthook = self._uncaught
        atexit.register(self._leave)

    def failed(self, error: BaseException) -> None:
        """End all ranks because of an error on this one; does not return."""
        text = f"\nmpi: rank {self.ranks.rank} of {self.ranks.size} failed, and all end:\n"
        self._end(text + error_text(error), exit_code(error))

    def _end(self, text: str, code: int) -> None:
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)
        self._watchdog.release()
        time.sleep(PRINT_SECONDS)
        self.ranks.abort(code)

    def _uncaught(
        self, kind: type[BaseException], error: BaseException, where: TracebackType | None
    ) -> None:
        self._hook(kind, error, where)
        self._end(f"mpi: that was rank {self.ranks.rank}; all end.", exit_code(error))

    def _leave(self) -> None:
        """At the interpreter's exit: all were refused while planning, or this rank alone was."""
        if self.phase == PLANNING and not self._all_leave():
            rank = self.ranks.rank
            self._end(f"mpi: rank {rank} was refused, and the others were not; all end.", 2)
        self._watchdog.release()

    def _all_leave(self) -> bool:
        barrier, until = self.ranks.comm.Ibarrier(), time.monotonic() + LEAVE_SECONDS
        while not barrier.Test():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


def exit_code(error: BaseException) -> int:
    """As the command line ends with it."""
    code: Any = getattr(error, "exit_code", getattr(error, "code", None))
    if isinstance(code, int) and code:
        return code
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def error_text(error: BaseException) -> str:
    """The error as text, with its traceback in a program of the user's or after `--debug`.

    Without `--debug` the command line shows only where it was raised.
    """
    if isinstance(error, RlkError):
        return str(error)
    if "rlk_cli.main" not in sys.modules or "--debug" in sys.argv:
        return "".join(traceback.format_exception(error)).rstrip()
    line = "".join(traceback.format_exception_only(error)).rstrip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return line
    last = frames[-1]
    return f"{line}\n  in {last.name}, {last.filename} line {last.lineno}; --debug shows the rest"
