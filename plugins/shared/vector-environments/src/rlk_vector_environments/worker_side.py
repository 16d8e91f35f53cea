"""The workers' side: a worker hosts a share of the environments, and replies to commands.

A command is the name of a method of `EnvironmentGroup` and its arguments, or a step. The backend
determines how commands and replies are sent. `worker_vec_env.py` is the learner's side.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from rlk.errors import EnvironmentFailed, PlanError
from rlk_vector_environments import sent_code
from rlk_vector_environments.env_state import Unsupported
from rlk_vector_environments.making import Description, describe, make_environments
from rlk_vector_environments.sent_failures import Failure, failure_of, unreadable
from rlk_vector_environments.stepping import EnvironmentGroup

#: The replies to a step: no episode ended; or some ended, but without an info.
QUIET = b"."
ENDED = b"!"


def make(
    envs: list[gym.Env[Any, Any]],
    start: int,
    pickled: bytes | None,
    env_fns: Sequence[Callable[[], Any]] | None = None,
) -> Failure | list[Description]:
    """Make the environments from `start` on; returns a description of each, or a failure.

    Args:
        envs: the environments are appended, so that the caller can close them if one fails.
        pickled: the functions that make them, as `pickled_makers` returns them.
        env_fns: these functions themselves, if nothing was pickled.
    """
    try:
        makers = env_fns if pickled is None else pickle.loads(pickled)
    except Exception as error:
        what = f"the functions that make environments {start} and on did not arrive."
        hint = "What they import must be importable in a worker, too."
        return failure_of(error, message=f"{what} {hint}")
    try:
        for env in make_environments(makers or [], start):
            envs.append(env)
    except PlanError as error:  # its message already says what to type instead
        return failure_of(error, "plan")
    except EnvironmentFailed as error:
        return failure_of(error)
    return [describe(env) for env in envs]


def pickled_makers(env_fns: Sequence[Callable[[], Any]], start: int, instead: str) -> bytes:
    """The functions that make the environments from `start` on, as bytes for their worker.

    Args:
        instead: for the message: what to use if they cannot be pickled.

    Raises:
        EnvironmentFailed: if they hold something that cannot be pickled.
    """
    try:
        return sent_code.dumps(list(env_fns))
    except Exception as error:
        raise EnvironmentFailed(
            f"the functions that make environments {start} to {start + len(env_fns) - 1} cannot be "
            f"sent to a worker: {error!r}. Let them create what they need instead of holding it, "
            f"or use {instead}."
        ) from error


def reply(group: EnvironmentGroup, name: str, *arguments: Any) -> Any:
    """The result of that method of the group, or a Failure if it raised an exception.

    A `step` returns QUIET, ENDED, or (last infos of ended episodes by index, whole infos).
    """
    try:
        found = getattr(group, name)(*arguments)
    except Unsupported as error:
        return failure_of(error, "unsupported")
    except AttributeError as error:  # the environment has no such attribute
        cause = error.__cause__ if isinstance(error.__cause__, AttributeError) else error
        return failure_of(cause, "attribute", str(error))
    except EnvironmentFailed as error:
        return failure_of(error)
    except Exception as error:  # a worker that ends here would say nothing about it
        what = f"a worker failed in its command {name!r}: {type(error).__name__}: {error}"
        return failure_of(error, message=what)
    return _of_step(*found) if name == "step" else found


def _of_step(
    ended: Sequence[tuple[int, dict[str, Any]]], infos: Sequence[tuple[int, dict[str, Any]]]
) -> Any:
    last = {index: info for index, info in ended if info}
    if last or infos:
        return last, infos
    return ENDED if ended else QUIET


def dumps(found: Any) -> bytes:
    """A reply as bytes; if it cannot be pickled, an `unsendable` Failure that says so."""
    try:
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    except Exception:
        try:  # for classes that only this process and the learner know
            return sent_code.dumps(found)
        except Exception as error:
            message = (
                f"what an environment gave cannot be sent to the learner: {error!r}. "
                "Keep such objects out of its infos and attributes, or use the backend 'dummy'."
            )
            return pickle.dumps(failure_of(error, "unsendable", message))


def loads(pickled: Any, what: str) -> Any:
    """What was sent as bytes; if it cannot be unpickled, an `unsendable` Failure that says so.

    Args:
        what: what it is, for the message.
    """
    try:
        return pickle.loads(pickled)
    except Exception as error:
        return unreadable(error, what)
