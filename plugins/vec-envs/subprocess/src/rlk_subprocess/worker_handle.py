"""The learner's handle of one worker, and the errors for a worker that is lost."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Sequence

from rlk.errors import EnvironmentFailed
from rlk_subprocess.channel import Channel
from rlk_subprocess.launch import Process
from rlk_vector_environments.worker_vec_env import environments, environments_are, told_seeds

#: After so many seconds without an answer, the learner checks that every worker is alive.
PATIENCE_SECONDS = 1
#: Seconds within which the system must report the end of a worker whose channel is closed.
_ENDING_SECONDS = 2.0


class WorkerHandle:
    """One worker and its environments: start to stop - 1."""

    def __init__(self, start: int, stop: int, end: socket.socket, process: Process) -> None:
        self.start = start
        self.stop = stop
        self.channel = Channel(end, PATIENCE_SECONDS, f"what {environments(self)} gave")
        self.process = process
        self.owes_answer = False  # a command was sent, and its answer has not been taken
        self.slot: int | None = None  # that of the step whose answer it owes
        self.is_ready = False  # it has made its environments, and can say where they hang
        self.is_fresh = False  # it replaced another worker, and has not taken a step since

    @property
    def indices(self) -> range:
        return range(self.start, self.stop)

    def kill(self) -> None:
        """End it at once, whatever it does, and close its channel."""
        self.process.send_signal(signal.SIGKILL)
        self.exit_code()
        self.channel.close()

    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None if it still runs after a while."""
        deadline = time.monotonic() + _ENDING_SECONDS
        while (code := self.process.poll()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return code


class WorkerLost(EnvironmentFailed):
    """A worker died, hangs, or has an environment that failed in a step.

    Attributes:
        worker: which one.
    """

    def __init__(self, worker: WorkerHandle, message: str) -> None:
        super().__init__(message)
        self.worker = worker


def death_of(worker: WorkerHandle, seeds: Sequence[int | None]) -> WorkerLost:
    """The error for a worker that has ended.

    Args:
        seeds: of all environments at their latest reset; None if there was none.
    """
    code = worker.exit_code()
    how = f"ended with exit code {code}"
    if code is None:
        how = "closed its channel but still runs"
    elif code < 0:
        how += f" ({signal.Signals(-code).name})"
    hint = "Its own output may say why; the backend 'dummy' runs environments in this process."
    if code == -signal.SIGKILL:
        hint = "Only the system or a user sends SIGKILL: is the machine out of memory?"
    who = f"{environments_are(worker)} lost: worker {worker.process.pid}"
    return WorkerLost(worker, f"{who} {how}. {hint}{told_seeds(worker, seeds)}")


def hanging(
    worker: WorkerHandle, where: str, waited: int, seeds: Sequence[int | None]
) -> WorkerLost:
    """The error for a worker that does not answer."""
    return WorkerLost(
        worker,
        f"{where}, without an answer for {waited} s: it hangs. Where so much time is needed: "
        f"--set vec_env.timeout_seconds=… (none waits forever).{told_seeds(worker, seeds)}",
    )
