"""The learner's side of the workers: starts them, hears from them, notices a death, ends them."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import cloudpickle  # type: ignore[import-untyped]
import gymnasium as gym

from rlk.errors import EnvironmentFailed
from rlk_subprocess import memory
from rlk_subprocess.channel import CLOSE, STEPS, Channel
from rlk_subprocess.failures import Failure
from rlk_subprocess.launch import Launcher, Process

#: After so long without an answer the learner looks whether every worker is still there.
_PATIENCE_SECONDS = 1
#: What the others get to close their environments when one has failed.
_FAREWELL_SECONDS = 0.5
#: From SIGTERM to SIGKILL.
_GRACE_SECONDS = 1.0


class Member:
    """One worker and the environments start to stop - 1 that it holds."""

    def __init__(self, start: int, stop: int, end: socket.socket, process: Process) -> None:
        self.start = start
        self.stop = stop
        self.channel = Channel(end, _PATIENCE_SECONDS)
        self.process = process
        self.owes = False  # an answer nobody has taken yet


class Crew:
    """All workers of one vector environment.

    Args:
        env_fns: one for each environment.
        n_workers: at most as many; they get contiguous shares that differ by one at most.
        start_method: fork, spawn or forkserver.
        info_keys: for the workers.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or a worker dies; none is left then.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        n_workers: int,
        start_method: str,
        info_keys: tuple[str, ...] | None,
    ) -> None:
        self._owner = os.getpid()
        self.members: list[Member] = []
        self.lost: str | None = None
        self._over = False
        self._launcher = Launcher(start_method)
        try:
            for start, stop in _shares(len(env_fns), n_workers):
                own = list(env_fns[start:stop])
                pickled = None if start_method == "fork" else _pickled(own, start)
                end, process = self._launcher.start(own)
                member = Member(start, stop, end, process)
                self.members.append(member)
                self.ask(member, (start, info_keys, pickled))
            self.described = self._hear_what_they_made()
        except BaseException:
            self.shutdown()
            raise

    def _hear_what_they_made(self) -> list[tuple[Any, ...]]:
        answers = [(member, self.answer(member)) for member in self.members]
        raise_failures([answer for _, answer in answers])
        return [described for _, answer in answers for described in answer]

    def share(
        self, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> memory.Shared:
        """Gives all workers the memory to write to; the learner's view of it."""
        descriptor = memory.create(n, observation_space, action_space)
        try:
            for member in self.members:
                socket.send_fds(member.channel.socket, [b"@"], [descriptor])
                self.ask(member, (n, observation_space, action_space))
        except BaseException:
            os.close(descriptor)
            raise
        shared = memory.attach(descriptor, n, observation_space, action_space)
        for member in self.members:
            self.answer(member)
        return shared

    # ---- talking -------------------------------------------------------------------------------

    def ask(self, member: Member, command: Any) -> None:
        """Sends a command that will be answered.

        Raises:
            EnvironmentFailed: if the worker is dead.
        """
        pickled = cloudpickle.dumps(command)
        if member.owes:  # Ctrl-C came before its last answer did
            self.answer(member)
        member.owes = True
        try:
            member.channel.send_frame(pickled)
        except OSError:
            self.bury(member)

    def ask_to_step(self, turn: int) -> list[Member]:
        """Sets every worker going, into that slot; whom to wait for, the last first.

        Raises:
            EnvironmentFailed: if a worker is dead.
        """
        command = STEPS[turn]
        for member in self.members:
            if member.owes:
                self.answer(member)
            member.owes = True
            try:
                member.channel.send(command)
            except OSError:
                self.bury(member)
        return self.members[::-1]

    def answer(self, member: Member) -> Any:
        """The answer, however long it takes, unless a worker dies.

        Raises:
            EnvironmentFailed: if one did, this or another.
        """
        while True:
            try:
                answer = member.channel.receive()
            except BlockingIOError:
                self.look_round()
            except (EOFError, ConnectionError):
                self.bury(member)
            else:
                member.owes = False
                return answer

    def look_round(self) -> None:
        """Raises EnvironmentFailed if a worker has ended, though its socket may still be open."""
        for member in self.members:
            if member.process.poll() is not None:
                self.bury(member)

    def bury(self, member: Member) -> NoReturn:
        """Ends all workers, for this one is dead, and raises EnvironmentFailed about it."""
        deadline = time.monotonic() + 2.0
        while member.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        code = member.process.poll()
        self.lost = _obituary(member, code)
        self.shutdown()
        raise EnvironmentFailed(self.lost)

    # ---- the end -------------------------------------------------------------------------------

    def shutdown(self, grace_seconds: float = _FAREWELL_SECONDS) -> None:
        """Ends every worker: asks, after grace_seconds terminates, kills. May be called again."""
        if self._over:
            return
        if os.getpid() == self._owner:
            for member in self.members:
                with contextlib.suppress(OSError):
                    member.channel.send(CLOSE)
            self._wait(grace_seconds)
            self._signal(signal.SIGTERM)
            self._wait(_GRACE_SECONDS)
            self._signal(signal.SIGKILL)
            self._wait(_GRACE_SECONDS)
        for member in self.members:
            member.channel.close()
        if os.getpid() == self._owner:
            self._launcher.close()
        self._over = True

    def _running(self) -> list[Member]:
        return [member for member in self.members if member.process.poll() is None]

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._running() and time.monotonic() < deadline:
            time.sleep(0.002)

    def _signal(self, number: int) -> None:
        for member in self._running():
            member.process.send_signal(number)


def raise_failures(answers: Sequence[Any]) -> None:
    """Raises the first Failure among the answers, with its worker's traceback."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer.exception()


def _shares(n: int, n_workers: int) -> list[tuple[int, int]]:
    """Contiguous (start, stop) for each worker; the first have one more where it leaves a rest."""
    size, more = divmod(n, n_workers)
    starts = [worker * size + min(worker, more) for worker in range(n_workers + 1)]
    return list(itertools.pairwise(starts))


def _pickled(env_fns: list[Callable[[], Any]], start: int) -> bytes:
    try:
        return bytes(cloudpickle.dumps(env_fns))
    except Exception as error:
        raise EnvironmentFailed(
            f"the functions that make environments {start} to {start + len(env_fns) - 1} cannot be "
            f"sent to a worker: {error!r}. Let them create what they need instead of holding it, "
            "or use start_method=fork or the backend 'dummy'."
        ) from error


def _obituary(member: Member, code: int | None) -> str:
    which = f"environments {member.start} to {member.stop - 1} are"
    if member.stop - member.start == 1:
        which = f"environment {member.start} is"
    how = f"ended with exit code {code}"
    if code is None:
        how = "closed its channel but still runs"
    elif code < 0:
        how += f" ({signal.Signals(-code).name})"
    hint = "Its own output may say why; the backend 'dummy' runs environments in this process."
    if code == -signal.SIGKILL:
        hint = "Nobody but the system or a user sends that: out of memory?"
    return f"{which} lost: their worker (pid {member.process.pid}) {how}. {hint}"
