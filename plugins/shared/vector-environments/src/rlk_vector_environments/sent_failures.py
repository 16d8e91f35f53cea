"""Sends errors from workers to the learner, and raises them there."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from rlk.errors import EnvironmentFailed, PlanError
from rlk_vector_environments.env_state import Unsupported
from rlk_vector_environments.failures import EnvironmentRaised, WrongResult, trace_of

Kind = Literal["failed", "unsendable", "wrong", "attribute", "unsupported", "plan"]
#: The kinds that are raised as another type than EnvironmentFailed, with the message alone.
_CLASSES: dict[str, type[Exception]] = {
    "wrong": WrongResult,
    "attribute": AttributeError,
    "unsupported": Unsupported,
    "plan": PlanError,
}


class Failure(NamedTuple):
    """An exception on its way to the learner.

    Attributes:
        kind: `failed`, for an EnvironmentFailed with the trace; `unsendable`, for the same if only
            the way to the learner failed, not the environment; or a key of `_CLASSES`.
        message: which environment failed, when, and how.
        trace: the worker's traceback as text, from the environment inwards, with the environment's
            history (its seed) before it.
        error: the exception itself, pickled; None if it cannot be.
    """

    kind: Kind
    message: str
    trace: str
    error: bytes | None

    def exception(self) -> Exception:
        """What the learner raises; its cause is the worker's exception if that could be pickled."""
        if self.kind in _CLASSES:
            raised = _CLASSES[self.kind](self.message)
        else:
            raised = EnvironmentFailed(f"{self.message}\n{self.trace}")
        try:
            raised.__cause__ = pickle.loads(self.error) if self.error else None
        except Exception:  # its class cannot be imported, or the exception cannot be unpickled
            raised.__cause__ = None
        return raised


def unreadable(error: Exception, what: str) -> Failure:
    """The failure for what raised an exception when it was unpickled.

    Args:
        what: what it is, for the message.
    """
    message = (
        f"{what} cannot be unpickled: {type(error).__name__}: {error}. Keep such objects out of "
        "infos, attributes and arguments (often it is an exception whose class takes other "
        "arguments than it passes to Exception), or use the backend 'dummy'."
    )
    return Failure("unsendable", message, f"The traceback:\n{trace_of(error)}", _pickled(error))


def failure_of(error: Exception, kind: Kind = "failed", message: str | None = None) -> Failure:
    """The failure for an exception that was just caught.

    An `EnvironmentRaised` is sent as the exception that the environment raised.

    Args:
        message: what the learner's exception says; by default, the message of `error`.
    """
    if isinstance(error, WrongResult):  # no code of the environment raised it: no traceback
        return Failure("wrong", str(error), "", None)
    if isinstance(error, EnvironmentRaised):
        history = f"{error.history}\n" if error.history else ""
        trace = f"{history}The worker's traceback:\n{error.trace}"
        return Failure(kind, error.headline, trace, _pickled(error.__cause__))
    trace = f"The worker's traceback:\n{trace_of(error)}"
    return Failure(kind, message or str(error), trace, _pickled(error))


def raise_failures(answers: Sequence[Any]) -> None:
    """Raise the first Failure among the answers, with its worker's traceback."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer.exception()


def _pickled(error: BaseException | None) -> bytes | None:
    try:
        return pickle.dumps(error)
    except Exception:  # only the cause is lost: the message and the trace are text
        return None
