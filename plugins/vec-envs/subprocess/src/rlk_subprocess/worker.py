"""A worker process: makes its share of the environments and does what the learner asks.

Nothing here imports torch, and of rlk only what is asked for.
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

import cloudpickle  # type: ignore[import-untyped]
import gymnasium as gym
import numpy as np

from rlk.errors import PlanError
from rlk_subprocess import memory
from rlk_subprocess.channel import CLOSE, ENDED, QUIET, STEPS, Channel
from rlk_subprocess.failures import Failure, describe
from rlk_vector_rows import rows

#: Seconds between two looks whether the process that started this one is still there.
_PATIENCE_SECONDS = 2


def main(descriptor: int, env_fns: list[Callable[[], Any]] | None = None) -> None:
    """Runs the worker on its end of a socket pair.

    Args:
        env_fns: given by fork, which needs no pickling; else the learner sends them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner decides what Ctrl-C means
    end = socket.socket(fileno=descriptor)
    end.set_inheritable(False)  # a program that an environment starts must not keep it open
    channel = Channel(end, _PATIENCE_SECONDS)
    patient = _Patient()
    envs: list[gym.Env[Any, Any]] = []
    try:
        start, info_keys, pickled = patient(channel.receive)
        made = _make(envs, start, pickled, env_fns)
        channel.send_frame(_dumps(made))
        if isinstance(made, Failure):
            return
        _, descriptors, _, _ = patient(lambda: socket.recv_fds(channel.socket, 1, 1))
        if not descriptors:  # it was told to close instead, or the learner is gone
            return
        n, observation_space, action_space = patient(channel.receive)
        shared = memory.attach(descriptors[0], n, observation_space, action_space)
        worker = Worker(envs, start, info_keys, shared.part(start, start + len(envs)))
        channel.send(QUIET)
        worker.serve(channel, patient)
    except (EOFError, ConnectionError):
        pass  # the learner is gone
    finally:
        _close(envs)


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
    """Environments start to start + n of the vector, and their rows of the shared arrays."""

    def __init__(
        self,
        envs: list[gym.Env[Any, Any]],
        start: int,
        info_keys: tuple[str, ...] | None,
        shared: memory.Shared,
    ) -> None:
        self._envs = envs
        self._start = start
        self._info_keys = info_keys
        self._shared = shared
        self._is_plain = isinstance(shared.final, np.ndarray)

    def serve(self, channel: Channel, patient: _Patient) -> None:
        """Answers every command with one reply, until it is told to close."""
        while True:
            command = patient(channel.receive)
            if command == CLOSE:
                return
            if command in STEPS:
                reply = self.step(STEPS.index(command))
            else:
                name, *arguments = command
                reply = getattr(self, name)(*arguments)
            if isinstance(reply, bytes):
                channel.send(reply)
            else:
                channel.send_frame(_dumps(reply))

    # ---- commands; indices are those of the vector ---------------------------------------------

    def step(self, turn: int) -> Any:
        """QUIET, ENDED, a Failure, or (last infos of ended episodes, selected infos) by index."""
        observation, reward, terminated, truncated = self._shared.slots[turn]
        terminated.fill(False)
        truncated.fill(False)
        actions = rows.samples(self._shared.actions, len(self._envs))
        keys, plain = self._info_keys, self._is_plain
        finals: dict[int, dict[str, Any]] = {}
        entries: list[tuple[int, dict[str, Any]]] = []
        reply, i = QUIET, 0
        try:
            for i, env in enumerate(self._envs):
                sample, reward[i], over, cut, info = env.step(actions[i])
                if keys:
                    self._select(entries, i, info)
                if over or cut:
                    terminated[i], truncated[i] = over, cut
                    rows.write(self._shared.final, i, sample)
                    reply = ENDED
                    if info:
                        finals[self._start + i] = dict(info)
                    sample, info = env.reset()
                if plain:
                    observation[i] = sample
                else:
                    rows.write(observation, i, sample)
                if keys is None:
                    self._select(entries, i, info)
        except Exception as error:
            return self._failure(i, "in step", error)
        return (finals, entries) if finals or entries else reply

    def reset(self, turn: int, seeds: dict[int, int | None], options: dict[str, Any] | None) -> Any:
        """Resets the environments in `seeds`; the selected infos by index."""
        entries: list[tuple[int, dict[str, Any]]] = []
        for index, seed in seeds.items():
            i = index - self._start
            try:
                sample, info = self._envs[i].reset(seed=seed, options=options)
                rows.write_checked(self._shared.slots[turn].observation, i, sample)
            except Exception as error:
                return self._failure(i, "in reset", error)
            if self._info_keys is None:
                self._select(entries, i, info)
        return entries

    def call(
        self, name: str, indices: list[int], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The results of that method, or values of that attribute, in the order of the indices."""
        return self._each(name, indices, lambda member: member(*args, **kwargs))

    def get_attr(self, name: str, indices: list[int]) -> Any:
        return self._each(name, indices, None)

    def set_attr(self, name: str, values: dict[int, Any]) -> Any:
        for index, value in values.items():
            try:
                self._envs[index - self._start].set_wrapper_attr(name, value)
            except Exception as error:
                return self._failure(index - self._start, f"in set_attr of {name}", error)
        return None

    def render(self) -> Any:
        frames = []
        for i, env in enumerate(self._envs):
            try:
                frames.append(env.render())
            except Exception as error:
                return self._failure(i, "in render", error)
        return frames

    def get_state(self) -> Any:
        from rlk_vector_rows.env_state import Unsupported, capture

        states: list[dict[str, Any] | None] = []
        for i, env in enumerate(self._envs):
            try:
                states.append(capture(env))
            except Unsupported:
                states.append(None)
            except Exception as error:
                return self._failure(i, "in get_state", error)
        return states

    def set_state(self, states: list[dict[str, Any]]) -> Any:
        from rlk_vector_rows.env_state import Unsupported, restore

        for i, (env, state) in enumerate(zip(self._envs, states, strict=True)):
            try:
                restore(env, state)
            except Unsupported as error:
                return describe(error, str(error), "unsupported")
            except Exception as error:
                return self._failure(i, "in set_state", error)
        return None

    def _each(self, name: str, indices: list[int], use: Any) -> Any:
        found = []
        for index in indices:
            i = index - self._start
            try:
                member = self._envs[i].get_wrapper_attr(name)
            except AttributeError as error:
                message = f"environment {index} has no attribute {name!r}"
                return describe(error, message, "attribute")
            try:
                found.append(use(member) if use is not None and callable(member) else member)
            except Exception as error:
                return self._failure(i, f"in {name}", error)
        return found

    def _select(self, entries: list[tuple[int, dict[str, Any]]], i: int, info: Any) -> None:
        keys = self._info_keys
        chosen = info if keys is None else {key: info[key] for key in keys if key in info}
        if chosen:
            entries.append((self._start + i, chosen))

    def _failure(self, i: int, when: str, error: Exception) -> Failure:
        return _failed(self._start + i, when, error)


class _Patient:
    """Repeats a blocking read for as long as the process that started this one is alive."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def __call__(self, read: Callable[[], Any]) -> Any:
        while True:
            try:
                return read()
            except BlockingIOError:
                if os.getppid() != self._parent:
                    raise EOFError("the process that started this worker is gone") from None


def _failed(index: int, when: str, error: Exception) -> Failure:
    what = f"{type(error).__name__}: {error}"
    return describe(error, f"environment {index} failed {when}: {what}")


def _make(
    envs: list[gym.Env[Any, Any]],
    start: int,
    pickled: bytes | None,
    env_fns: list[Callable[[], Any]] | None,
) -> Failure | list[tuple[Any, ...]]:
    """Fills envs; what the learner wants to know of each, or the failure of one."""
    try:
        makers = env_fns if pickled is None else cloudpickle.loads(pickled)
    except Exception as error:
        hint = "What they import must be importable in a worker, too."
        return describe(
            error, f"the functions that make environments {start} and on did not arrive. {hint}"
        )
    for i, env_fn in enumerate(makers or []):
        try:
            envs.append(env_fn())
        except PlanError as error:  # says by itself what to type instead
            return describe(error, str(error), "plan")
        except Exception as error:
            return _failed(start + i, "when it was made", error)
    return [
        (env.observation_space, env.action_space, env.metadata, env.render_mode) for env in envs
    ]


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
            return pickle.dumps(describe(error, message))


def _close(envs: list[gym.Env[Any, Any]]) -> None:
    for env in envs:
        try:
            env.close()
        except Exception:
            traceback.print_exc()
