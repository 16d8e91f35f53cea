"""A worker process: makes its share of the environments and executes the learner's commands.

It imports neither torch nor the plugins of the run.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import gymnasium as gym

from rlk_subprocess import memory
from rlk_subprocess.channel import CLOSE, STEPS, Channel
from rlk_subprocess.whereabouts import answer_by_signal
from rlk_vector_environments.sent_failures import Failure
from rlk_vector_environments.stepping import EnvironmentGroup, close_all
from rlk_vector_environments.worker_side import QUIET, dumps, make, reply

#: Seconds between two checks that the process that started this one still runs.
_PATIENCE_SECONDS = 2


def main(descriptor: int, env_fns: list[Callable[[], Any]] | None = None) -> None:
    """Run the worker on its end of a socket pair.

    Args:
        env_fns: passed by fork, which needs no pickling; else the learner sends them.
    """
    leave_to_learner()
    end = socket.socket(fileno=descriptor)
    end.set_inheritable(False)  # a program that an environment starts must not keep it open
    channel = Channel(end, _PATIENCE_SECONDS, "what was sent to a worker")
    read = _PatientReader()
    envs: list[gym.Env[Any, Any]] = []
    start = 0
    try:
        start, info_keys, pickled = read(channel.receive)
        made = make(envs, start, pickled, env_fns)
        channel.send_frame(dumps(made))
        if isinstance(made, Failure):
            return
        _, descriptors, _, _ = read(lambda: socket.recv_fds(channel.socket, 1, 1))
        if not descriptors:  # it was told to close instead, or the learner has ended
            return
        shared, notes = memory.attach(descriptors[0], memory.Layout(*read(channel.receive)))
        part = shared.part(start, start + len(envs))
        group = EnvironmentGroup(envs, part, start=start, info_keys=info_keys)
        answer_by_signal(notes[start])
        channel.send(QUIET)
        serve(group, channel, read)
    except (EOFError, ConnectionError):
        pass  # the learner has ended
    except SystemExit:
        traceback.print_exc()  # an environment called sys.exit; Python itself prints nothing
        raise
    finally:
        for error in close_all(envs, start):
            print(error, file=sys.stderr, flush=True)
        channel.close()


def leave_to_learner() -> None:
    """Ignore Ctrl-C and SIGHUP, because the learner decides how to react to them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Programs that an environment starts get the default back, which they would not with SIG_IGN.
    signal.signal(signal.SIGHUP, lambda number, frame: None)


def run_forked(descriptor: int, env_fns: list[Callable[[], Any]] | None = None) -> NoReturn:
    """Run the worker in a process that was just forked; never returns into the parent's code."""
    code = 1
    try:
        main(descriptor, env_fns)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        flush_streams()
        os._exit(code)


def flush_streams() -> None:
    """Write what was printed; a process that was started without a stream has None for it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def serve(group: EnvironmentGroup, channel: Channel, read: _PatientReader) -> None:
    """Answer every command with one reply, until the worker is told to close."""
    while True:
        command = read(channel.receive)
        if command == CLOSE:
            return
        if command in STEPS:
            found = reply(group, "step", STEPS.index(command))
        elif isinstance(command, Failure):
            found = command
        else:
            found = reply(group, *command)
        if isinstance(found, bytes):
            channel.send(found)
        else:
            channel.send_frame(dumps(found))


class _PatientReader:
    """Repeats a blocking read for as long as the process that started this one is alive."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def __call__(self, receive: Callable[[], Any]) -> Any:
        while True:
            try:
                return receive()
            except BlockingIOError:
                if os.getppid() != self._parent:
                    raise EOFError("the process that started this worker is gone") from None
