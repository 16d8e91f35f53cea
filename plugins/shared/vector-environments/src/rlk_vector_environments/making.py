"""Makes the environments of a vector and checks that their spaces are equal."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import EnvironmentFailed, PlanError
from rlk_vector_environments import how_made
from rlk_vector_environments.failures import raised

MakesEnv = Callable[[], gym.Env[Any, Any]]


class Description(NamedTuple):
    """The properties of one environment that a vector environment needs."""

    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    metadata: dict[str, Any]
    render_mode: str | None


def make_environments(env_fns: Iterable[MakesEnv], start: int = 0) -> Iterator[gym.Env[Any, Any]]:
    """Make one environment after the other, so that the caller can close them if one fails.

    Args:
        start: the index of the first one in the vector, for messages.

    Raises:
        EnvironmentRaised: naming the environment that cannot be made.
        EnvironmentFailed: if a function returns an environment that another has returned.
        PlanError: as raised by the function, because it says by itself what to type instead.
    """
    seen: dict[int, tuple[int, gym.Env[Any, Any]]] = {}  # by id, which lives as long as the object
    for index, env_fn in enumerate(env_fns, start):
        try:
            env = env_fn()
        except PlanError:
            raise
        except Exception as error:
            raise raised(index, None, "when it was made", error) from error
        innermost = env.unwrapped
        if id(innermost) in seen:
            raise EnvironmentFailed(
                f"environments {seen[id(innermost)][0]} and {index} are one and the same object. "
                "Let every function in env_fns make a new one: lambda: gym.make(...)."
            )
        seen[id(innermost)] = index, innermost
        how_made.note(env, getattr(env_fn, "rlk_settings", None))
        yield env


def describe(env: gym.Env[Any, Any]) -> Description:
    """The description of one environment; it can be pickled if the spaces can."""
    return Description(env.observation_space, env.action_space, env.metadata, env.render_mode)


def check_equal_spaces(
    descriptions: Sequence[Description], start: int = 0, first: Description | None = None
) -> None:
    """Raises EnvironmentFailed if an environment has other spaces than the first.

    Args:
        descriptions: of environments in the order of their indices.
        start: the index of the first of these, for the message.
        first: what the first environment of the vector was; None is the first of these.
    """
    first = first or descriptions[0]
    for index, description in enumerate(descriptions, start):
        for name in ("observation_space", "action_space"):
            found, expected = getattr(description, name), getattr(first, name)
            if found != expected:
                raise EnvironmentFailed(
                    f"environment {index} has the {name} {found}, but the first one has "
                    f"{expected}. All environments of a vector must have equal spaces."
                )


def describe_vector(vector: VectorEnv[Any, Any, Any], descriptions: Sequence[Description]) -> None:
    """Set the attributes that Gymnasium requires; restarts are declared as same-step.

    Its spaces are copies, so that nothing draws from the generators of an environment's own.
    """
    first, n = descriptions[0], len(descriptions)
    observation, action = copy.deepcopy((first.observation_space, first.action_space))
    vector.num_envs = n
    vector.single_observation_space, vector.single_action_space = observation, action
    vector.observation_space = batch_space(observation, n)
    vector.action_space = batch_space(action, n)
    vector.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
    vector.render_mode = first.render_mode
