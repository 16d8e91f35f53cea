"""The learner's side of the workers: starts them, exchanges messages, notices deaths, ends them."""

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
from rlk_subprocess.whereabouts import ask
from rlk_vector_environments.making import Description
from rlk_vector_environments.step_arrays import StepArrays

#: After so long without an answer the learner checks that every worker is alive.
_PATIENCE_SECONDS = 1
#: How long the other workers may take to close their environments when one has failed.
_CLOSE_SECONDS = 0.5
#: How long workers get to close if one is in the middle of a command, and may hang in it.
_BUSY_SECONDS = 0.5
#: From SIGTERM to SIGKILL.
_TERMINATE_SECONDS = 0.3


class WorkerHandle:
    """One worker and the environments start to stop - 1 that it holds."""

    def __init__(self, start: int, stop: int, end: socket.socket, process: Process) -> None:
        self.start = start
        self.stop = stop
        self.channel = Channel(end, _PATIENCE_SECONDS)
        self.process = process
        self.owes_answer = False  # a command was sent, and its answer has not been taken


class WorkerPool:
    """All workers of one vector environment.

    Args:
        env_fns: one for each environment.
        n_workers: at most as many; they get contiguous shares that differ by one at most.
        start_method: fork, spawn or forkserver.
        info_keys: for the workers.
        timeout_seconds: how long an answer may take; None waits for ever.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or a worker dies or hangs; then no
            worker is left.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        n_workers: int,
        start_method: str,
        info_keys: tuple[str, ...] | None,
        timeout_seconds: float | None = None,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._notes: Any = None  # uint8 [N, NOTE_BYTES], when the memory is shared
        self._owner = os.getpid()
        self.workers: list[WorkerHandle] = []
        self.lost: str | None = None
        self._over = False
        self._launcher = Launcher(start_method)
        try:
            for start, stop in _shares(len(env_fns), n_workers):
                own = list(env_fns[start:stop])
                pickled = None if start_method == "fork" else _pickled(own, start)
                end, process = self._launcher.start(own)
                worker = WorkerHandle(start, stop, end, process)
                self.workers.append(worker)
                self.ask(worker, (start, info_keys, pickled))
            self.descriptions = self._receive_descriptions()
        except BaseException:
            self.shutdown()
            raise

    def _receive_descriptions(self) -> list[Description]:
        answers = [(worker, self.answer(worker)) for worker in self.workers]
        raise_failures([answer for _, answer in answers])
        return [description for _, answer in answers for description in answer]

    def share_memory(
        self, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> StepArrays:
        """Gives all workers the memory to write to; the learner's view of it."""
        descriptor = memory.create(n, observation_space, action_space)
        try:
            for worker in self.workers:
                socket.send_fds(worker.channel.socket, [b"@"], [descriptor])
                self.ask(worker, (n, observation_space, action_space))
        except BaseException:
            os.close(descriptor)
            raise
        shared, notes = memory.attach(descriptor, n, observation_space, action_space)
        for worker in self.workers:
            self.answer(worker)
        self._notes = notes
        return shared

    # ---- commands and answers ------------------------------------------------------------------

    def ask(self, worker: WorkerHandle, command: Any) -> None:
        """Sends a command that will be answered.

        Raises:
            EnvironmentFailed: if the worker is dead.
        """
        pickled = cloudpickle.dumps(command)
        if worker.owes_answer:  # Ctrl-C came before its last answer did
            self.answer(worker)
        worker.owes_answer = True
        try:
            worker.channel.send_frame(pickled)
        except OSError:
            self.raise_dead(worker)

    def ask_to_step(self, turn: int) -> list[WorkerHandle]:
        """Starts a step of every worker into that slot; the workers to wait for, the last first.

        Raises:
            EnvironmentFailed: if a worker is dead.
        """
        command = STEPS[turn]
        for worker in self.workers:
            if worker.owes_answer:
                self.answer(worker)
            worker.owes_answer = True
            try:
                worker.channel.send(command)
            except OSError:
                self.raise_dead(worker)
        return self.workers[::-1]

    def answer(self, worker: WorkerHandle) -> Any:
        """The answer, unless a worker dies or this one takes too long.

        Raises:
            EnvironmentFailed: if one did, this or another.
        """
        waited = 0  # counted, because a clock would go on while this process is stopped (Ctrl-Z)
        while True:
            try:
                answer = worker.channel.receive()
            except BlockingIOError:
                self.check_alive()
                waited += _PATIENCE_SECONDS
                if self._timeout_seconds is not None and waited >= self._timeout_seconds:
                    self._raise_hanging(worker, waited)
            except KeyboardInterrupt as interruption:
                interruption.add_note(self._whereabouts(worker))
                raise
            except (EOFError, ConnectionError):
                self.raise_dead(worker)
            else:
                worker.owes_answer = False
                return answer

    def check_alive(self) -> None:
        """Raises EnvironmentFailed if a worker has ended, though its socket may still be open."""
        for worker in self.workers:
            if worker.process.poll() is not None:
                self.raise_dead(worker)

    def raise_dead(self, worker: WorkerHandle) -> NoReturn:
        """Ends all workers because this one is dead, and raises EnvironmentFailed about it."""
        deadline = time.monotonic() + 2.0
        while worker.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        code = worker.process.poll()
        self.lost = _death_message(worker, code)
        self.shutdown()
        raise EnvironmentFailed(self.lost)

    def _raise_hanging(self, worker: WorkerHandle, waited: int) -> NoReturn:
        """Ends all workers because this one does not answer, and raises EnvironmentFailed."""
        self.lost = (
            f"{self._whereabouts(worker)}, without an answer for {waited} s: it hangs, and all "
            "workers were ended. Where so much time is needed: "
            "--set vec_env.timeout_seconds=… (none waits for ever)."
        )
        self.shutdown()
        raise EnvironmentFailed(self.lost)

    def _whereabouts(self, worker: WorkerHandle) -> str:
        """Which environment of a worker is where, as the worker says itself if it can."""
        place = None
        if self._notes is not None:
            with contextlib.suppress(OSError):  # it has died in this moment
                place = ask(worker.process.send_signal, self._notes[worker.start])
        return f"{place or f'{_held(worker)} in compiled code'} (worker {worker.process.pid})"

    # ---- the end -------------------------------------------------------------------------------

    def shutdown(self, grace_seconds: float = _CLOSE_SECONDS) -> None:
        """Ends every worker: asks, after grace_seconds terminates, kills. May be called again.

        A worker that still owes an answer may hang, and gets little time.
        """
        if self._over:
            return
        if os.getpid() == self._owner:
            for worker in self.workers:
                with contextlib.suppress(OSError):
                    worker.channel.send(CLOSE)
            is_busy = any(worker.owes_answer for worker in self.workers)
            self._wait(min(grace_seconds, _BUSY_SECONDS) if is_busy else grace_seconds)
            self._signal(signal.SIGTERM)
            self._wait(_TERMINATE_SECONDS)
            self._signal(signal.SIGKILL)
            self._wait(_TERMINATE_SECONDS)
        for worker in self.workers:
            worker.channel.close()
        if os.getpid() == self._owner:
            self._launcher.close()
        self._over = True

    def _running(self) -> list[WorkerHandle]:
        return [worker for worker in self.workers if worker.process.poll() is None]

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._running() and time.monotonic() < deadline:
            time.sleep(0.002)

    def _signal(self, number: int) -> None:
        for worker in self._running():
            worker.process.send_signal(number)


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


def _held(worker: WorkerHandle) -> str:
    if worker.stop - worker.start == 1:
        return f"environment {worker.start} is"
    return f"environments {worker.start} to {worker.stop - 1} are"


def _death_message(worker: WorkerHandle, code: int | None) -> str:
    how = f"ended with exit code {code}"
    if code is None:
        how = "closed its channel but still runs"
    elif code < 0:
        how += f" ({signal.Signals(-code).name})"
    hint = "Its own output may say why; the backend 'dummy' runs environments in this process."
    if code == -signal.SIGKILL:
        hint = "Only the system or a user sends SIGKILL: is the machine out of memory?"
    return f"{_held(worker)} lost: their worker (pid {worker.process.pid}) {how}. {hint}"
