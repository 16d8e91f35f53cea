"""Errors of environments, and of vectors of them: exceptions, and results that are wrong."""

from __future__ import annotations

import traceback
from typing import Any

import gymnasium as gym

from rlk.errors import EnvironmentFailed
from rlk.registry.discovery import entry_points
from rlk_vector_environments.attributes import layers


class EnvironmentRaised(EnvironmentFailed):
    """An environment raised an exception, which is the cause (`__cause__`) of this one.

    Attributes:
        headline: which environment, when, and what it raised, in one line.
        trace: the traceback as text, from the environment inwards.
        history: how to reproduce it, in a sentence; "" if there is nothing to say.
    """

    def __init__(self, headline: str, trace: str, of_id: str = "", history: str = "") -> None:
        super().__init__(headline, trace, of_id, history)
        self.headline, self.trace, self._of_id = headline, trace, of_id
        self.history = history

    def __str__(self) -> str:
        history = f"{self.history}\n" if self.history else ""
        return f"{self.headline}\n{history}The traceback{self._of_id}:\n{self.trace}"


class WrongResult(EnvironmentFailed):
    """An environment returned something that its spaces, or Gymnasium's interface, do not allow."""


def closed() -> gym.error.ClosedEnvironmentError:
    """The error for a call of a vector environment that was closed."""
    return gym.error.ClosedEnvironmentError("this vector environment is closed; make a new one.")


def name_of(env: gym.Env[Any, Any]) -> str:
    """The id that an environment was registered with, or its class."""
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id


def raised(
    index: int, env: gym.Env[Any, Any] | None, when: str, error: Exception, history: str = ""
) -> EnvironmentRaised:
    """The error for an exception that was just caught.

    Args:
        index: of the environment in the vector.
        env: the environment; None while it is being made.
        when: "in step", "when it was made", …
        error: what it raised.
        history: how to reproduce it.
    """
    of_id = "" if env is None or env.spec is None else f" of {env.spec.id}"
    where = when if env is None else f"{when}{_wrapper_at_fault(env, error)}"
    headline = f"environment {index} failed {where}: {type(error).__name__}: {error}"
    return EnvironmentRaised(headline, trace_of(error), of_id, history)


def _wrapper_at_fault(env: gym.Env[Any, Any], error: Exception) -> str:
    """The wrapper that raised it, unless it was the environment inside or Gymnasium's; else "".

    It is the layer that owns the innermost method in the traceback.
    """
    known = {id(layer): layer for layer in layers(env)}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    called = [id(frame.f_locals.get("self")) for frame in frames]
    at_fault = next((known[one] for one in reversed(called) if one in known), None)
    if at_fault not in wrappers_of(env):
        return ""
    whose = package = _package(at_fault)
    for point in entry_points():
        if point.target.partition(":")[0].partition(".")[0] == package:
            whose = f"{point.dist} {point.version}".strip()
    return f", in the wrapper {type(at_fault).__name__} ({whose}) around it"


def wrappers_of(env: gym.Env[Any, Any]) -> list[gym.Env[Any, Any]]:
    """The wrappers around an environment except Gymnasium's own, the outermost first."""
    return [layer for layer in list(layers(env))[:-1] if _package(layer) != "gymnasium"]


def _package(layer: gym.Env[Any, Any]) -> str:
    return type(layer).__module__.partition(".")[0]


def trace_of(error: Exception) -> str:
    """The traceback of an exception as text, without the frame that caught it."""
    frames = error.__traceback__
    inner = frames.tb_next if frames is not None and frames.tb_next is not None else frames
    return "".join(traceback.format_exception(type(error), error, inner)).rstrip()
