"""The learner's side of one vector environment: its requests to the ranks that are its workers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import gymnasium as gym

from rlk.errors import EnvironmentFailed
from rlk_mpi_workers.learner import Learner
from rlk_mpi_workers.messages import FINALS, PICKLED, RESET, StepMessages, reply_tag, step_tag
from rlk_vector_environments import sent_code
from rlk_vector_environments.making import Description
from rlk_vector_environments.sent_failures import Failure, raise_failures
from rlk_vector_environments.step_arrays import StepArrays, allocate, shares
from rlk_vector_environments.worker_side import ENDED, QUIET, pickled_makers
from rlk_vector_environments.worker_vec_env import environments_are, told_seeds

#: Seconds that ranks get to close their environments after one of them has failed.
_CLOSE_SECONDS = 0.5
#: What a rank may owe: a pickled reply, the result of a step, final observations.
_REPLY, _RESULT, _FINALS = "reply", "result", "finals"


class WorkerHandle:
    """A rank that is a worker, and the environments that it holds: start to stop - 1."""

    messages: StepMessages  #: of its steps, in the learner's memory

    def __init__(self, rank: int, start: int, stop: int) -> None:
        self.rank, self.start, self.stop = rank, start, stop
        self.due: list[str] = []  #: the messages that it still owes
        self.turn = 0  #: the slot of the result that it owes
        self.answer: Any = None  #: the part of an answer that has arrived


class RankPool:
    """All workers of one vector environment (`rlk_vector_environments.worker_vec_env.Workers`).

    Args:
        learner: rank 0's side of the job.
        env_fns: one for each environment; ranks get contiguous shares whose sizes differ by at most
            one.
        info_keys: see `SameStepVecEnv`.
        timeout_seconds: how long an answer may take; None is no limit.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or a rank hangs.
    """

    def __init__(
        self,
        learner: Learner,
        env_fns: Sequence[Callable[[], Any]],
        info_keys: tuple[str, ...] | None,
        timeout_seconds: float | None,
    ) -> None:
        self._learner, self._info_keys, self._timeout_seconds = learner, info_keys, timeout_seconds
        self._until: float | None = None  # when waiting ends while everything is closed
        self._over = False
        self._at_end = contextlib.ExitStack()
        self.lost: str | None = None
        self.seeds: list[int | None] = [None] * len(env_fns)
        bounds = shares(len(env_fns), min(len(learner.worker_ranks), len(env_fns)))
        makers = [pickled_makers(env_fns[a:b], a, "the backend 'dummy'") for a, b in bounds]
        placed = zip(learner.worker_ranks, bounds, strict=False)
        self.workers = [WorkerHandle(rank, start, stop) for rank, (start, stop) in placed]
        self._number = learner.new_vector(timeout_seconds)
        self._step, self._reply = step_tag(self._number), reply_tag(self._number)
        try:
            for worker, pickled in zip(self.workers, makers, strict=True):
                self._tell(worker, "make", worker.start, info_keys, pickled)
            answers = self._answers()
        except BaseException:
            self.shutdown()
            raise
        self.descriptions: list[Description] = [one for answer in answers for one in answer]

    def share_memory(
        self, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> StepArrays:
        """Tell all ranks the layout of a step; returns the learner's arrays for it."""
        arrays = allocate(observation_space, action_space, n, self._info_keys)
        for worker in self.workers:
            self._tell(worker, "share", observation_space, action_space)
            part = arrays.part(worker.start, worker.stop)
            worker.messages = StepMessages(self._learner.mpi, part)
            self._at_end.callback(worker.messages.free)
        self._answers()
        return arrays

    # ---- commands and answers ------------------------------------------------------------------

    def ask(self, worker: WorkerHandle, command: Any) -> None:
        """Send the name of a method of `EnvironmentGroup` and its arguments."""
        name, *arguments = command
        self._tell(worker, "do", name, sent_code.dumps(arguments))
        if command[0] == "reset":
            worker.turn = command[1]
            worker.due.append(_RESULT)

    def ask_to_step(self, turn: int) -> list[WorkerHandle]:
        """Start a step into that slot on every rank; the ranks to wait for, the last first."""
        for worker in self.workers:
            if worker.due:
                self.answer(worker)
            worker.due, worker.turn, worker.messages.head[0] = [_RESULT], turn, turn
            self._learner.comm.Send(worker.messages.actions, worker.rank, self._step)
        return self.workers[::-1]

    def answer(self, worker: WorkerHandle) -> Any:
        """The answer, as soon as it is complete; after Ctrl-C it may be asked for again.

        Raises:
            EnvironmentFailed: if the rank takes too long.
        """
        while worker.due:
            self._take(worker, worker.due[0])
        return worker.answer

    def _answers(self) -> list[Any]:
        answers = [self.answer(worker) for worker in self.workers]
        raise_failures(answers)
        return answers

    def _tell(self, worker: WorkerHandle, what: str, *more: Any) -> None:
        if worker.due:  # Ctrl-C came before its last answer was complete
            self.answer(worker)
        worker.due = [_REPLY]
        self._learner.tell(worker.rank, (what, self._number, *more))

    def _take(self, worker: WorkerHandle, what: str) -> None:
        """Wait for the first message that is due, and note which messages are due after it."""
        tag = self._reply if what == _REPLY else self._step
        try:
            self._learner.wait_for(
                worker.rank, tag, lambda waited: self._look_after(worker, waited)
            )
        except KeyboardInterrupt as interruption:
            interruption.add_note(self._whereabouts(worker))
            raise
        if what == _REPLY:
            worker.answer = _with_rank(self._learner.take(), worker.rank)
            # An environment that failed in its reset has no observation to send.
            failed = isinstance(worker.answer, Failure)
            is_last = failed and worker.answer.kind != "unsendable"
            worker.due = [] if is_last else worker.due[1:]
        elif what == _FINALS:
            self._learner.take_into(worker.messages.finals)
            worker.due = worker.due[1:]
        else:
            self._learner.take_into(worker.messages.results[worker.turn])
            self._note_result(worker, int(worker.messages.head[0]))

    def _note_result(self, worker: WorkerHandle, follows: int) -> None:
        """Note what follows the result of a step (nothing follows that of a reset)."""
        if follows == RESET:
            worker.due = worker.due[1:]
            return
        worker.answer = ENDED if follows & FINALS else QUIET
        then = ((FINALS, _FINALS), (PICKLED, _REPLY))
        worker.due = [what for bit, what in then if follows & bit]

    # ---- the end -------------------------------------------------------------------------------

    def _look_after(self, worker: WorkerHandle, waited: float) -> None:
        """Called every few milliseconds while a message is waited for."""
        if self._until is not None:
            if time.monotonic() > self._until:
                raise TimeoutError
        elif self._timeout_seconds is not None and waited >= self._timeout_seconds:
            self._raise_hanging(worker, waited)

    def _raise_hanging(self, worker: WorkerHandle, waited: float) -> NoReturn:
        self.lost = (
            f"{self._whereabouts(worker)}\nThere was no answer for {waited:.0f} s: it hangs, and "
            "the job ends. Where so much time is needed: --set vec_env.timeout_seconds=… (none "
            f"waits forever).{told_seeds(worker, self.seeds)}"
        )
        raise EnvironmentFailed(self.lost)

    def _whereabouts(self, worker: WorkerHandle) -> str:
        """Where each environment of a rank hangs, as the rank itself says if it can."""
        place = self._learner.where(worker.rank)
        return f"rank {worker.rank}: {place or f'{environments_are(worker)} in compiled code'}"

    def shutdown(self, grace_seconds: float = _CLOSE_SECONDS) -> None:
        """Close the environments; may be called again.

        A rank that does not answer in time is left until the job ends, which waits until it has
        closed them. Then the number of the vector environment is not used again, so that a late
        message of the rank is not mistaken for another.
        """
        if self._over:
            return
        self._over, self._until = True, time.monotonic() + grace_seconds
        told = [one for one in self.workers if self._in_time(self._tell, one, "close")]
        closed = [one for one in told if self._in_time(self.answer, one)]
        if len(closed) == len(self.workers):
            self._learner.forget_vector(self._number)
        for worker in told:
            if worker not in closed:
                self._learner.note_closing(worker.rank)
        self._at_end.close()

    def _in_time(self, do: Callable[..., Any], *arguments: Any) -> bool:
        try:
            do(*arguments)
        except TimeoutError:
            return False
        return True


def _with_rank(answer: Any, rank: int) -> Any:
    """The answer; a failure also names its rank."""
    if not isinstance(answer, Failure):
        return answer
    return answer._replace(message=f"rank {rank}: {answer.message}")
