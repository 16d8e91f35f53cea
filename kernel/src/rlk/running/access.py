"""Which calls a run allows: it may be closed, be a fork of another process, or learn elsewhere.

Elsewhere means in another thread. While one thread trains, others may predict and save models;
whatever would meet the middle of an update, or change what training relies on, is refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlk.errors import PlanError, RlkError
from rlk.running.learning_call import LearningCall

if TYPE_CHECKING:
    from rlk.running.run import Run

#: How often a call that waits for the end of training asks again: what is asked before the first
#: iteration begins is forgotten.
_ASK_AGAIN_SECONDS = 0.1


@contextlib.contextmanager
def training(run: Run, call: str) -> Iterator[None]:
    """Let one call train a run within this context, and no other.

    Args:
        run: the run.
        call: the name of the call, for the message.

    Raises:
        RlkError: within another such call, as from a callback or another thread, or as `check_own`,
            `check_environment` and `check_can_train`.
    """
    from rlk.running.torch_modes import check_can_train  # not at the top: it needs torch

    check_own(run, call)
    check_environment(run, call)
    check_can_train(call, run.device)
    if run.learning:
        raise RlkError(
            f"{call}: this agent is training already, in the call that this one was made within, "
            "or in another thread. Let that end first, or train another agent."
        )
    run.learning = learning = LearningCall()
    try:
        yield
    finally:
        run.learning = None
        learning.ended.set()


def check_own(run: Run, call: str) -> None:
    """RlkError, naming a call, if a run was closed, or was made by another process."""
    if run.closed:
        raise RlkError(
            f"{call}: this agent is closed, and so are its environments and loggers. Load it "
            f"again, rlk.load(path), or call {call} before close() and within `with rlk.make(…) as "
            "agent`."
        )
    if is_of_another_process(run):
        raise RlkError(
            f"{call}: this agent was made in process {run.process}, of which this one is a fork, "
            "and both would use its environments and its folder. Make one here, or save it, "
            "agent.save(path), and load it here: rlk.load(path)."
        )


def check_environment(run: Run, call: str) -> None:
    """PlanError, naming a call, if a run has only the spaces of its environment."""
    why = run.plan.env.why_spaces_alone
    if why:
        raise PlanError(f"{call}: this agent has the spaces of its environment alone: {why}")


def is_of_another_process(run: Run) -> bool:
    """Whether this process is a fork of the one that made the run."""
    return os.getpid() != run.process


def check_free(run: Run, call: str) -> None:
    """RlkError as `check_own` and `check_not_learning_elsewhere`."""
    check_own(run, call)
    check_not_learning_elsewhere(run, call)


def check_not_learning_elsewhere(run: Run, call: str) -> None:
    """RlkError, naming a call that another thread's training does not allow."""
    if _learning_elsewhere(run):
        raise RlkError(
            f"{call}: another thread trains this agent, and may be in the middle of an update. "
            "Make this call in a callback of that training (rlk_update_end), or end that first: "
            "agent.run.stop('why') ends it at the next iteration border."
        )


def end_learning_elsewhere(run: Run, reason: str) -> None:
    """Let training in another thread end at the next iteration border, and wait until it has."""
    if learning := _learning_elsewhere(run):
        run.stop(reason)
        while not learning.ended.wait(_ASK_AGAIN_SECONDS):
            run.stop(reason)


def _learning_elsewhere(run: Run) -> LearningCall | None:
    """The call by which another thread of this process trains a run, or None."""
    learning = run.learning  # read once: it may end now
    if learning is None or not learning.is_elsewhere or is_of_another_process(run):
        return None
    return learning
