"""A worker: a rank that hosts environments, and executes rank 0's commands until it ends."""

from __future__ import annotations

import contextlib
import pickle
import signal
import sys
from typing import Any

import gymnasium as gym

from rlk_mpi.extension import LAUNCH
from rlk_mpi_workers.messages import (
    COMMAND,
    FINALS,
    PICKLED,
    RESET,
    WAITING,
    WHERE,
    Mailbox,
    StepMessages,
    reply_tag,
    step_tag,
    vector_of,
)
from rlk_mpi_workers.whereabouts import Whereabouts
from rlk_ranks.guard import ALONE
from rlk_vector_environments import rows
from rlk_vector_environments.sent_failures import Failure
from rlk_vector_environments.step_arrays import allocate
from rlk_vector_environments.stepping import EnvironmentGroup, close_all
from rlk_vector_environments.worker_side import ENDED, QUIET, dumps, loads, make, reply

_LEARNER = 0


def host() -> int:
    """Host environments for rank 0 until rank 0 ends or calls `release`.

    Returns:
        0, the exit code of a rank that ended without an error.

    Raises:
        RuntimeError: if there is no other rank.
    """
    guard = LAUNCH.enter()
    if guard is None:
        raise RuntimeError("there is no rank 0 to host environments for: mpirun -n 4 python …")
    guard.phase = ALONE
    ranks: Any = guard.ranks
    before = leave_signals_to_learner()
    try:
        Worker(ranks.mpi, ranks.comm).serve()
    except BaseException as error:  # including SystemExit of an environment
        guard.failed(error)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def leave_signals_to_learner() -> dict[int, Any]:
    """Ignore the signals that a launcher sends to all ranks; returns the previous handlers.

    Rank 0 decides how to react to Ctrl-C, SIGTERM and SIGHUP.
    """
    numbers = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    # Programs that an environment starts get the default back, which they would not with SIG_IGN.
    return {
        number: signal.signal(number, lambda number, frame: None)
        for number in numbers
        if number is not None
    }


class Share:
    """The environments of one vector that this rank hosts, and the messages of their steps."""

    def __init__(
        self, start: int, info_keys: tuple[str, ...] | None, envs: list[gym.Env[Any, Any]]
    ) -> None:
        self._start, self._info_keys, self._envs = start, info_keys, envs
        self._at_end = contextlib.ExitStack()
        self.turn = 0  #: the slot of the latest result

    def share(self, mpi: Any, observation_space: Any, action_space: Any) -> None:
        """Allocate the memory that steps are received into and sent from."""
        self.arrays = allocate(observation_space, action_space, len(self._envs), self._info_keys)
        self.messages = StepMessages(mpi, self.arrays)
        self._at_end.callback(self.messages.free)
        self.group = EnvironmentGroup(
            self._envs, self.arrays, start=self._start, info_keys=self._info_keys
        )

    def before_reset(self, turn: int, seeds: dict[int, Any]) -> None:
        """Environments that are not reset keep their latest observation."""
        if len(seeds) < len(self._envs):
            slots = self.arrays.slots
            rows.copy_into(slots[turn].observation, slots[self.turn].observation)
        self.turn = turn

    def any_ended(self, turn: int) -> bool:
        """Whether an episode ended in the step of that slot."""
        slot = self.arrays.slots[turn]
        return bool(slot.terminated.any() or slot.truncated.any())

    def close(self) -> None:
        """Close the environments, printing their errors, and free the MPI datatypes."""
        for error in close_all(self._envs, self._start):
            print(error, file=sys.stderr, flush=True)
        self._at_end.close()


class Worker:
    """This rank's shares of all vector environments of rank 0."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi, self._comm = mpi, comm
        self._mailbox = Mailbox(mpi, comm)
        self._shares: dict[int, Share] = {}
        self._sending: list[tuple[Any, Any]] = []
        self._whereabouts = Whereabouts(mpi, comm, _LEARNER)

    def serve(self) -> None:
        """Answer all messages until one tells the rank to leave."""
        while True:
            WAITING.until(lambda: self._mailbox.look(_LEARNER, self._mpi.ANY_TAG))
            vector = vector_of(self._mailbox.tag)
            if vector is not None:
                self._step(vector)
            elif self._mailbox.tag == WHERE:
                self._whereabouts.answer(self._mailbox.take(), "no environment is called")
            elif not self._obey(pickle.loads(self._mailbox.take())):
                break
        self._send(COMMAND, self._bytes(pickle.dumps("leaves")))  # closing may take long
        for share in self._shares.values():
            share.close()
        self._send(COMMAND, self._bytes(pickle.dumps("has left")))
        for request, _ in self._sending:
            request.Wait()

    # ---- steps ---------------------------------------------------------------------------------

    def _step(self, vector: int) -> None:
        share = self._shares[vector]
        self._mailbox.take_into(share.messages.actions)
        share.turn = turn = int(share.messages.head[0])
        with self._whereabouts.busy():
            found = reply(share.group, "step", turn)
        follows = 0
        if found is not QUIET:
            follows |= PICKLED if found is not ENDED else 0
            if not isinstance(found, Failure) and share.any_ended(turn):
                follows |= FINALS
        self._send_result(vector, turn, follows)
        if follows & FINALS:
            self._send(step_tag(vector), share.messages.finals)
        if follows & PICKLED:
            self._send(reply_tag(vector), self._bytes(dumps(found)))

    def _send_result(self, vector: int, turn: int, follows: int) -> None:
        messages = self._shares[vector].messages
        messages.head[0] = follows
        self._send(step_tag(vector), messages.results[turn])

    # ---- commands ------------------------------------------------------------------------------

    def _obey(self, command: tuple[Any, ...]) -> bool:
        """Execute a command and reply; False for the command to leave."""
        what, *more = command
        if what == "leave":
            return False
        vector, *arguments = more
        with self._whereabouts.busy():
            found = getattr(self, f"_{what}")(vector, *arguments)
        self._send(reply_tag(vector), self._bytes(dumps(found)))
        if what == "do" and arguments[0] == "reset" and not isinstance(found, Failure):
            self._send_result(vector, self._shares[vector].turn, RESET)
        return True

    def _make(
        self, vector: int, start: int, info_keys: tuple[str, ...] | None, pickled: bytes
    ) -> Any:
        envs: list[gym.Env[Any, Any]] = []
        self._shares[vector] = Share(start, info_keys, envs)
        return make(envs, start, pickled)

    def _share(self, vector: int, observation_space: Any, action_space: Any) -> None:
        self._shares[vector].share(self._mpi, observation_space, action_space)

    def _do(self, vector: int, name: str, pickled: bytes) -> Any:
        share, arguments = self._shares[vector], loads(pickled, "what was sent to a worker")
        if isinstance(arguments, Failure):
            return arguments._replace(kind="failed")  # nothing was done: no result follows
        if name == "reset":
            share.before_reset(arguments[0], arguments[1])
        return reply(share.group, name, *arguments)

    def _close(self, vector: int) -> None:
        self._shares.pop(vector).close()

    # ---- sending -------------------------------------------------------------------------------

    def _bytes(self, data: bytes) -> Any:
        return [data, self._mpi.BYTE]

    def _send(self, tag: int, message: Any) -> None:
        """Send without waiting, because rank 0 may first wait for another vector.

        Rank 0 takes a result before it asks for another, so the memory does not change meanwhile.
        """
        self._sending = [one for one in self._sending if not one[0].Test()]
        self._sending.append((self._comm.Isend(message, _LEARNER, tag), message))
