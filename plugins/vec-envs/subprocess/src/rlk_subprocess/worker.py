"""A worker process: makes its share of the environments and does what the learner asks.

It imports neither torch nor the plugins of the run.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import cloudpickle
import gymnasium as gym

from rlk.errors import EnvironmentFailed, PlanError
from rlk_subprocess import memory
from rlk_subprocess.channel import CLOSE, ENDED, QUIET, STEPS, Channel
from rlk_subprocess.failures import Failure, failure_of
from rlk_subprocess.whereabouts import answer_by_signal
from rlk_vector_environments.env_state import Unsupported
from rlk_vector_environments.making import Description, describe, make_environments
from rlk_vector_environments.stepping import EnvironmentGroup, close_all

#: Seconds between two looks whether the process that started this one is still there.
_PATIENCE_SECONDS = 2


def main(descriptor: int, env_fns: list[Callable[[], Any]] | None = None) -> None:
    """Runs the worker on its end of a socket pair.

    Args:
        env_fns: given by fork, which needs no pickling; else the learner sends them.
    """
    leave_to_learner()
    end = socket.socket(fileno=descriptor)
    end.set_inheritable(False)  # a program that an environment starts must not keep it open
    channel = Channel(end, _PATIENCE_SECONDS)
    read = _PatientReader()
    envs: list[gym.Env[Any, Any]] = []
    try:
        start, info_keys, pickled = read(channel.receive)
        made = _make(envs, start, pickled, env_fns)
        channel.send_frame(_dumps(made))
        if isinstance(made, Failure):
            return
        _, descriptors, _, _ = read(lambda: socket.recv_fds(channel.socket, 1, 1))
        if not descriptors:  # it was told to close instead, or the learner is gone
            return
        n, observation_space, action_space = read(channel.receive)
        shared, notes = memory.attach(descriptors[0], n, observation_space, action_space)
        part = shared.part(start, start + len(envs))
        group = EnvironmentGroup(envs, part, start=start, info_keys=info_keys)
        answer_by_signal(notes[start])
        channel.send(QUIET)
        Worker(group).serve(channel, read)
    except (EOFError, ConnectionError):
        pass  # the learner is gone
    finally:
        for error in close_all(envs):
            traceback.print_exception(error)


def leave_to_learner() -> None:
    """Leave it to the learner what Ctrl-C means, and the end of a terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Programs that an environment starts get the default back from a handler, not from SIG_IGN.
    signal.signal(signal.SIGHUP, lambda number, frame: None)


def run_forked(descriptor: int, env_fns: list[Callable[[], Any]] | None = None) -> NoReturn:
    """The same in a process that was just forked: it never returns into its parent's code."""
    code = 1
    try:
        main(descriptor, env_fns)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Worker:
    """Does what the learner asks with its share of the environments.

    Args:
        group: the environments. A command names one of its methods, and its arguments follow.
    """

    def __init__(self, group: EnvironmentGroup) -> None:
        self._group = group

    def serve(self, channel: Channel, read: _PatientReader) -> None:
        """Answers every command with one reply, until it is told to close."""
        while True:
            command = read(channel.receive)
            if command == CLOSE:
                return
            reply = self._reply(command)
            if isinstance(reply, bytes):
                channel.send(reply)
            else:
                channel.send_frame(_dumps(reply))

    def _reply(self, command: Any) -> Any:
        """What the command gives, or the Failure that it ends in."""
        try:
            if command in STEPS:
                return self._step(STEPS.index(command))
            name, *arguments = command
            return getattr(self._group, name)(*arguments)
        except Unsupported as error:
            return failure_of(error, "unsupported")
        except AttributeError as error:  # the environment has no such attribute
            cause = error.__cause__ if isinstance(error.__cause__, AttributeError) else error
            return failure_of(cause, "attribute", str(error))
        except EnvironmentFailed as error:
            return failure_of(error)

    def _step(self, turn: int) -> Any:
        """QUIET, ENDED, or (last infos of ended episodes by index, infos that are kept)."""
        ended, infos = self._group.step(turn)
        last = {index: info for index, info in ended if info}
        if last or infos:
            return last, infos
        return ENDED if ended else QUIET


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


def _make(
    envs: list[gym.Env[Any, Any]],
    start: int,
    pickled: bytes | None,
    env_fns: list[Callable[[], Any]] | None,
) -> Failure | list[Description]:
    """Fills envs; the description of each, or the failure of one."""
    try:
        makers = env_fns if pickled is None else cloudpickle.loads(pickled)
    except Exception as error:
        what = f"the functions that make environments {start} and on did not arrive."
        hint = "What they import must be importable in a worker, too."
        return failure_of(error, message=f"{what} {hint}")
    try:
        for env in make_environments(makers or [], start):
            envs.append(env)
    except PlanError as error:  # says by itself what to type instead
        return failure_of(error, "plan")
    except EnvironmentFailed as error:
        return failure_of(error)
    return [describe(env) for env in envs]


def _dumps(reply: Any) -> bytes:
    """A reply as bytes; where it cannot be pickled, a Failure that says so."""
    try:
        return pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
    except Exception:
        try:  # of classes that only this process and the learner know
            return bytes(cloudpickle.dumps(reply))
        except Exception as error:
            message = (
                f"what an environment gave cannot be sent to the learner: {error!r}. "
                "Keep such objects out of its infos and attributes, or use the backend 'dummy'."
            )
            return pickle.dumps(failure_of(error, message=message))
