"""What an environment did wrong: it raised an exception, or gave what its spaces do not allow."""

from __future__ import annotations

import traceback
from typing import Any

import gymnasium as gym

from rlk.errors import EnvironmentFailed


class EnvironmentRaised(EnvironmentFailed):
    """An environment raised an exception, which is the cause of this one.

    Attributes:
        headline: which environment, when, and what it raised, in one line.
        trace: the traceback as text, from the environment inwards.
    """

    def __init__(self, headline: str, trace: str, of_id: str = "") -> None:
        super().__init__(headline, trace, of_id)
        self.headline, self.trace, self._of_id = headline, trace, of_id

    def __str__(self) -> str:
        return f"{self.headline}\nThe traceback{self._of_id}:\n{self.trace}"


class WrongResult(EnvironmentFailed):
    """An environment gave something else than its spaces, or Gymnasium's interface, say."""


def name_of(env: gym.Env[Any, Any]) -> str:
    """The id that an environment was registered with, or its class."""
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id


def raised(
    index: int, env: gym.Env[Any, Any] | None, when: str, error: Exception
) -> EnvironmentRaised:
    """What to raise from an exception that was just caught.

    Args:
        index: of the environment in the vector.
        env: the environment; None while it is being made.
        when: "in step", "when it was made", …
        error: what it raised.
    """
    of_id = "" if env is None or env.spec is None else f" of {env.spec.id}"
    headline = f"environment {index} failed {when}: {type(error).__name__}: {error}"
    return EnvironmentRaised(headline, trace_of(error), of_id)


def trace_of(error: Exception) -> str:
    """The traceback of an exception as text, without the frame that caught it."""
    frames = error.__traceback__
    inner = frames.tb_next if frames is not None and frames.tb_next is not None else frames
    return "".join(traceback.format_exception(type(error), error, inner)).rstrip()
