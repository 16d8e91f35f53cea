"""Ends all ranks when one of them fails, because the others would wait for it forever.

In a plain MPI program, a rank that raises an exception or exits leaves the others in an all-reduce.
Here every failure while ranks work together ends all of them (`World.abort`), after the rank's
number was printed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any

from rlk.errors import BadFile, PlanError, RlkError
from rlk_ranks.world import LEFT, OtherRankEnded, World, title

#: The phases of ranks: each plans by itself; they build and train together; after training each is
#: independent again; the program of another one has ended.
PLANNING, TOGETHER, ALONE, DESERTED = "planning", "together", "alone", "deserted"
#: What a rank is told that finds no file, or a damaged one.
WRITTEN_BY_RANK_0 = (
    " Rank 0 alone writes files. Before another rank reads what agent.save writes, all must meet: "
    "agent.run.communicator.gather(None) on every rank."
)
#: Seconds that a refused rank waits for the others to be refused as well.
LEAVE_SECONDS = 5.0
#: Seconds that the launcher gets to forward the output before the abort.
PRINT_SECONDS = 0.3


class Guard:
    """Watches how this process ends, and watches the other ranks of this machine.

    Attributes:
        phase: the current phase of the ranks.
    """

    def __init__(self, ranks: World) -> None:
        self.ranks, self.phase = ranks, PLANNING
        self._process = os.getpid()  # a fork of it is no rank
        self._hook = sys.excepthook
        sys.excepthook = self._uncaught
        atexit.register(self._leave)
        ranks.watch()  # last, because if it fails, the others must not wait for this rank

    def failed(self, error: BaseException) -> None:
        """End all ranks because of an error on this one; does not return."""
        ranks = self.ranks
        if isinstance(error, OtherRankEnded):
            self.end(f"{ranks.name}: rank {ranks.rank} ends, because {error}", 1)
        text = f"\n{ranks.name}: rank {ranks.rank} of {ranks.size} failed, and all end:\n"
        self.end(text + error_text(error), exit_code(error))

    def end(self, text: str, code: int) -> None:
        """End all ranks with this text and exit code; does not return."""
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)
        self.ranks.release()
        time.sleep(PRINT_SECONDS)
        self.ranks.abort(code)

    def _uncaught(
        self, kind: type[BaseException], error: BaseException, where: TracebackType | None
    ) -> None:
        self._hook(kind, error, where)
        text = f"{self.ranks.name}: that was rank {self.ranks.rank}; all end."
        if isinstance(error, BadFile) and self.ranks.rank != 0:
            text += WRITTEN_BY_RANK_0
        self.end(text, exit_code(error))

    def meet(self) -> None:
        """Wait until all ranks plan a run.

        Raises:
            PlanError: if another one never will, because its program has ended.
        """
        ranks = self.ranks
        if ranks.largest(0) == LEFT:
            self.phase = DESERTED
            raise PlanError(
                f"{title(ranks)}: ranks plan a run together, and the program of another rank has "
                f"ended before rank {ranks.rank} called make or load. Call it on every rank; what "
                "one rank does alone (load a model and play it) leaves the plugin out: "
                f"plugins=['no:{ranks.name}'], or --plugin no:{ranks.name}."
            )

    def _leave(self) -> None:
        """When the interpreter exits: wait for the others, or end them if they were not refused.

        A rank that plans or trains when another one leaves would wait for it for ever.
        """
        ranks = self.ranks
        if os.getpid() != self._process or ranks.is_over():
            return
        if self.phase == PLANNING and not ranks.all_arrive(LEAVE_SECONDS):
            text = f"{ranks.name}: rank {ranks.rank} was refused, and the others were not; all end."
            self.end(text, 2)
        if self.phase in (TOGETHER, ALONE):
            with contextlib.suppress(OtherRankEnded):  # it has said why
                ranks.largest(LEFT)
        ranks.release()


@cache
def guard_over(world: Callable[[], World | None]) -> Guard | None:
    """The only guard of this process, for these ranks; None for a single rank."""
    ranks = world()
    return None if ranks is None else Guard(ranks)


def exit_code(error: BaseException) -> int:
    """The exit code with which the command line ends for this error."""
    code: Any = getattr(error, "exit_code", None)
    if isinstance(error, SystemExit):  # an HTTPError has a code, too
        code = error.code
    if isinstance(code, int) and code:
        return code
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def error_text(error: BaseException) -> str:
    """The error as text, with its traceback in a user's program or after `--debug`.

    Without `--debug`, the command line only shows where the error was raised.
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
