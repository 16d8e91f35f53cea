"""What ends all ranks when one of them fails: without it the others wait for it for ever.

Under plain Python a rank that raises or exits leaves the rest in an all-reduce. So every way out of
what ranks do together ends in MPI's Abort, with the rank's number.
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
from rlk_mpi.watch import Watch
from rlk_mpi.world import World, world

#: What ranks do: they plan, each by itself, until all are there to build; they build and train
#: together; after training each is alone again.
PLANNING, TOGETHER, ALONE = "planning", "together", "alone"
#: A rank that was refused waits so long for the others to be refused too.
LEAVE_SECONDS = 5.0
#: The launcher forwards what was printed; Abort would overtake it.
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
        self._watch = Watch(ranks)
        sys.excepthook = self._uncaught
        atexit.register(self._leave)

    def failed(self, error: BaseException) -> None:
        """End all ranks because of an error on this one; does not return."""
        text = f"\nmpi: rank {self.ranks.rank} of {self.ranks.size} failed, and all end:\n"
        self._end(text + told(error), exit_code(error))

    def _end(self, text: str, code: int) -> None:
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)
        self._watch.release()
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
        self._watch.release()

    def _all_leave(self) -> bool:
        barrier, until = self.ranks.comm.Ibarrier(), time.monotonic() + LEAVE_SECONDS
        while not barrier.Test():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


def exit_code(error: BaseException) -> int:
    """As the command line ends with it."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    code: Any = getattr(error, "exit_code", getattr(error, "code", None))
    return code if isinstance(code, int) and code else 1


def told(error: BaseException) -> str:
    """The error as text: with its traceback in a program of the user's, and where it is asked for.

    The command line shows none without `--debug`, but where it was raised.
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
