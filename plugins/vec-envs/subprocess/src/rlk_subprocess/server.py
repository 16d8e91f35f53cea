"""The fork server: a process without threads that imports Gymnasium and forks the workers.

The learner sends one line for each command, and the server answers with lines of its own:
    fork            (with the worker's socket)   ->  forked PID
    signal PID N    sends the signal, if that worker has not ended
                    whenever a worker ends       ->  ended PID EXITCODE
When the learner has ended, the server ends the remaining workers and exits.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from typing import NoReturn

import numpy as np

from rlk_subprocess import worker

_PATIENCE_SECONDS = 2.0
#: Seconds that a worker may take to close its environments after the learner has ended.
_GRACE_SECONDS = 1.0


def main(descriptor: int) -> None:
    """Serve the learner at the other end of that socket."""
    worker.leave_to_learner()
    learner = socket.socket(fileno=descriptor)
    learner.set_inheritable(False)
    Server(learner).serve()


class Server:
    """Forks workers for the learner and reports their ends."""

    def __init__(self, learner: socket.socket) -> None:
        self._learner = learner
        self._parent = os.getppid()
        self._alive: set[int] = set()
        self._wake_in, self._wake_out = os.pipe()
        for end in (self._wake_in, self._wake_out):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wake_out, warn_on_full_buffer=False)

    def serve(self) -> None:
        try:
            while os.getppid() == self._parent:
                ends = [self._learner.fileno(), self._wake_in]
                ready, _, _ = select.select(ends, [], [], _PATIENCE_SECONDS)
                if self._wake_in in ready:
                    os.read(self._wake_in, 4096)
                    self._reap()
                if self._learner.fileno() in ready and not self._obey():
                    break
        except ConnectionError:
            pass  # the learner has ended
        self._end_workers()

    def _obey(self) -> bool:
        """Execute commands of the learner; False if the learner has ended."""
        data, descriptors, _, _ = socket.recv_fds(self._learner, 4096, 1)
        for line in data.decode().splitlines():
            verb, *numbers = line.split()
            if verb == "fork":
                self._fork(descriptors[0])
            elif int(numbers[0]) in self._alive:
                os.kill(int(numbers[0]), int(numbers[1]))
        return bool(data)

    def _fork(self, descriptor: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_worker(descriptor)
        os.close(descriptor)
        self._alive.add(pid)
        self._learner.sendall(f"forked {pid}\n".encode())

    def _become_worker(self, descriptor: int) -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._wake_in)
        os.close(self._wake_out)
        self._learner.close()
        np.random.seed()  # else all workers would draw the same from the global generator
        worker.run_forked(descriptor)

    def _reap(self) -> None:
        for pid in sorted(self._alive):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._alive.discard(pid)
                code = os.waitstatus_to_exitcode(status)
                self._learner.sendall(f"ended {pid} {code}\n".encode())

    def _end_workers(self) -> None:
        self._learner.close()
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._alive:
            for pid in sorted(self._alive):
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG)[0]:
                    self._alive.discard(pid)
            time.sleep(0.01)
