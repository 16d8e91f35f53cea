"""An environment of spaces alone, for an agent that acts where its environment is not there."""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import gymnasium as gym

from rlk.errors import PlanError
from rlk.planning.environment import EnvChoice
from rlk.planning.saved_keywords import with_tuples
from rlk.restoring.saved_records import SavedEnvironment
from rlk.restoring.saved_spaces import space_of
from rlk.spaces import Space


class SpacesAlone(gym.Env[Any, Any]):
    """Has the spaces of an environment, and cannot be stepped."""

    def __init__(self, observation_space: Space, action_space: Space, why: str) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self._why = why

    def reset(self, **_: Any) -> NoReturn:
        """Raise PlanError, which says why the environment is not there."""
        raise PlanError(f"this agent has the spaces of its environment alone: {self._why}")

    def step(self, action: Any) -> NoReturn:
        """As `reset`."""
        self.reset()


def spaces_alone(saved: SavedEnvironment, why: str) -> EnvChoice | None:
    """The environment of a saved plan, of which only the spaces are there.

    It is saved again as the environment that it stands for.

    Args:
        saved: the one in the file.
        why: why it is not there, and what to do about it.

    Returns:
        The environment; None if the file does not have its spaces.
    """
    states = {**saved.spaces, **saved.spaces_inside}
    observed, acted = states.get("observation_space"), states.get("action_space")
    if observed is None or acted is None:
        return None
    made = functools.partial(_made, space_of(observed), space_of(acted), why)
    kwargs = with_tuples(saved.kwargs, saved.tuples)
    return EnvChoice(saved.name, kwargs, made, saved.source, saved.again, why_spaces_alone=why)


def _made(observation_space: Space, action_space: Space, why: str, /, **_: Any) -> SpacesAlone:
    """One environment, whatever keywords the one that it stands for takes."""
    return SpacesAlone(observation_space, action_space, why)
