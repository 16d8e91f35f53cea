"""The learner's side of the workers: starts them, sends messages, notices deaths, ends them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import gymnasium as gym

from rlk.errors import EnvironmentFailed
from rlk_subprocess import memory, whereabouts
from rlk_subprocess.channel import CLOSE, STEPS
from rlk_subprocess.launch import Launcher
from rlk_subprocess.worker_handle import (
    PATIENCE_SECONDS,
    WorkerHandle,
    WorkerLost,
    death_of,
    hanging,
)
from rlk_vector_environments import sent_code
from rlk_vector_environments.making import Description
from rlk_vector_environments.sent_failures import raise_failures
from rlk_vector_environments.step_arrays import StepArrays, shares
from rlk_vector_environments.worker_side import pickled_makers
from rlk_vector_environments.worker_vec_env import environments_are

#: For an error: what works where these functions cannot be sent.
INSTEAD = "start_method=fork or the backend 'dummy'"
#: Seconds that the other workers get to close their environments after one has failed.
_CLOSE_SECONDS = 0.5
#: Seconds that workers get to close if one of them is busy with a command, and may hang in it.
_BUSY_SECONDS = 0.5
#: Seconds between SIGTERM and SIGKILL.
_TERMINATE_SECONDS = 0.3


class WorkerPool:
    """All workers of one vector environment.

    Args:
        env_fns: one for each environment.
        n_workers: at most that many; they get contiguous shares whose sizes differ by at most one.
        start_method: fork, spawn or forkserver.
        info_keys: see `SameStepVecEnv`.
        timeout_seconds: how long an answer may take; None is no limit.

    Attributes:
        arrays: the memory that is shared with all workers, after `share_memory`.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or a worker dies or hangs; then all
            workers are ended.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        n_workers: int,
        start_method: str,
        info_keys: tuple[str, ...] | None,
        timeout_seconds: float | None = None,
    ) -> None:
        self._env_fns, self._method, self._info_keys = list(env_fns), start_method, info_keys
        self._timeout_seconds = timeout_seconds
        self._notes: Any = None  # uint8 [N, NOTE_BYTES], after the memory is shared
        self.arrays: StepArrays
        self._memory: tuple[int, memory.Layout] | None = None  # its descriptor and its layout
        self._owner = os.getpid()
        self.workers: list[WorkerHandle] = []
        self.seeds: list[int | None] = [None] * len(self._env_fns)
        self.lost: str | None = None
        self._over = False
        self._launcher = Launcher(start_method)
        try:
            for start, stop in shares(len(self._env_fns), n_workers):
                self.workers.append(self._start(start, stop))
            answers = [self.answer(worker) for worker in self.workers]
            raise_failures(answers)
            self.descriptions: list[Description] = [one for made in answers for one in made]
        except BaseException:
            self.shutdown()
            raise

    def _start(self, start: int, stop: int) -> WorkerHandle:
        """Start a worker that makes these environments; it owes their descriptions."""
        own = self._env_fns[start:stop]
        pickled = None if self._method == "fork" else pickled_makers(own, start, INSTEAD)
        try:
            end, process = self._launcher.start(own)
        except OSError as error:
            raise EnvironmentFailed(
                f"worker {len(self.workers)} of the backend 'subprocess' cannot be started: "
                f"{error}. Use fewer, --set subprocess.n_workers=K, or raise the limit of the "
                "system (ulimit -a shows it)."
            ) from error
        worker = WorkerHandle(start, stop, end, process)
        try:
            self.ask(worker, (start, self._info_keys, pickled))
        except BaseException:
            worker.kill()
            raise
        return worker

    def share_memory(
        self, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> StepArrays:
        """Share the memory with all workers; returns the learner's view of it.

        Raises:
            EnvironmentFailed: if the system does not provide that much.
        """
        layout = memory.Layout(n, observation_space, action_space, self._info_keys)
        descriptor = memory.create(layout)
        self._memory = descriptor, layout
        for worker in self.workers:
            self._send_memory(worker)
        self.arrays, self._notes = memory.attach(os.dup(descriptor), layout)
        for worker in self.workers:
            self.answer(worker)
            worker.is_ready = True
        return self.arrays

    def _send_memory(self, worker: WorkerHandle) -> None:
        assert self._memory is not None
        descriptor, layout = self._memory
        socket.send_fds(worker.channel.socket, [b"@"], [descriptor])
        self.ask(worker, tuple(layout))

    # ---- commands and answers ------------------------------------------------------------------

    def ask(self, worker: WorkerHandle, command: Any) -> None:
        """Send a command that will be answered.

        Raises:
            EnvironmentFailed: if the worker is dead.
        """
        pickled = sent_code.dumps(command)
        if worker.owes_answer:  # Ctrl-C came before its last answer
            self.answer(worker)
        worker.owes_answer = True
        try:
            worker.channel.send_frame(pickled)
        except OSError:
            self.give_up(death_of(worker, self.seeds))

    def ask_to_step(self, turn: int) -> list[WorkerHandle]:
        """Start a step into that slot in every worker; the workers to wait for, the last first."""
        command = STEPS[turn]
        for worker in self.workers:
            if worker.owes_answer:
                self.answer(worker)
            worker.owes_answer = True
            with contextlib.suppress(OSError):  # it is dead: taking its answer will show that
                worker.channel.send(command)
        return self.workers[::-1]

    def answer(self, worker: WorkerHandle) -> Any:
        """The answer of a worker; if one dies or this one takes too long, all workers are ended.

        Raises:
            EnvironmentFailed: if this worker or another one died, or took too long.
        """
        try:
            return self.receive(worker)
        except WorkerLost as lost:
            self.give_up(lost)

    def receive(self, worker: WorkerHandle, *, alone: bool = False) -> Any:
        """The answer of a worker.

        Args:
            alone: only this worker is looked at; more of the others may have died.

        Raises:
            WorkerLost: if this worker (or without `alone`, another one) has died, or this one takes
                too long.
        """
        waited = 0  # counted, because a clock would go on while this process is stopped (Ctrl-Z)
        while True:
            try:
                answer = worker.channel.receive()
            except BlockingIOError:
                self._check_alive([worker] if alone else self.workers)
                waited += PATIENCE_SECONDS
                if self._timeout_seconds is not None and waited >= self._timeout_seconds:
                    where = self._whereabouts(worker)
                    raise hanging(worker, where, waited, self.seeds) from None
            except KeyboardInterrupt as interruption:
                interruption.add_note(self._whereabouts(worker))
                raise
            except (EOFError, OSError):  # it has ended, or its channel is closed
                raise death_of(worker, self.seeds) from None
            else:
                worker.owes_answer = False
                return answer

    def _check_alive(self, workers: Sequence[WorkerHandle]) -> None:
        """Raises WorkerLost if one of them has ended, though its socket may still be open."""
        for worker in workers:
            if worker.process.poll() is not None:
                raise death_of(worker, self.seeds)

    def give_up(self, lost: WorkerLost) -> NoReturn:
        """End all workers because one is lost, and raise the EnvironmentFailed for it."""
        self.lost = f"{lost} All workers were ended."
        self.shutdown()
        raise EnvironmentFailed(self.lost) from lost.__cause__

    def _whereabouts(self, worker: WorkerHandle) -> str:
        """Where each environment of a worker hangs, as the worker itself says if it can."""
        if not worker.is_ready:  # the memory for its answer is shared after all are made
            return f"{environments_are(worker)} being made (worker {worker.process.pid})"
        place = None
        with contextlib.suppress(OSError):  # it has died at this moment
            place = whereabouts.ask(worker.process.send_signal, self._notes[worker.start])
        place = place or f"{environments_are(worker)} in compiled code"
        return f"{place} (worker {worker.process.pid})"

    # ---- what only a pool that restarts workers needs -------------------------------------------

    def remember(self, name: str, values: Mapping[int, Any]) -> None:
        """Told of an attribute of these environments, which a new worker has to set again."""

    def follow(self, states: Sequence[Any]) -> None:
        """Told of all environments' states, from which the seeds of new workers follow."""

    def metrics(self) -> Mapping[str, float]:
        """The metrics that a run logs."""
        return {}

    # ---- the end -------------------------------------------------------------------------------

    def shutdown(self, grace_seconds: float = _CLOSE_SECONDS) -> None:
        """End every worker: ask, after grace_seconds terminate, then kill. May be called again.

        A worker that still owes an answer may hang, and gets less time.
        """
        if self._over:
            return
        if os.getpid() == self._owner:
            for worker in self.workers:
                with contextlib.suppress(OSError):
                    worker.channel.send(CLOSE)
            is_busy = any(worker.owes_answer for worker in self.workers)
            self._wait_for_exit(min(grace_seconds, _BUSY_SECONDS) if is_busy else grace_seconds)
            self._signal(signal.SIGTERM)
            self._wait_for_exit(_TERMINATE_SECONDS)
            self._signal(signal.SIGKILL)
            self._wait_for_exit(_TERMINATE_SECONDS)
        for worker in self.workers:
            worker.channel.close()
        if os.getpid() == self._owner:
            self._launcher.close()
        if self._memory is not None:
            os.close(self._memory[0])
            self._memory = None
        self._over = True

    def _running(self) -> list[WorkerHandle]:
        return [worker for worker in self.workers if worker.process.poll() is None]

    def _wait_for_exit(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._running() and time.monotonic() < deadline:
            time.sleep(0.002)

    def _signal(self, number: int) -> None:
        for worker in self._running():
            worker.process.send_signal(number)
