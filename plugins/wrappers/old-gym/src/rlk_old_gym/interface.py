"""Which interface an environment has: gym's of old, or Gymnasium's.

gym's: `reset()` gives the observation, `step(action)` four values (observation, reward, done,
info), and `seed(seed)` seeds. Gymnasium's: `reset(seed=…, options=…)` gives (observation, info),
`step(action)` five values.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import gymnasium

#: What `gymnasium.make` puts around an environment. They understand Gymnasium's interface alone.
_PUT_BY_MAKE = (
    gymnasium.wrappers.PassiveEnvChecker,
    gymnasium.wrappers.OrderEnforcing,
    gymnasium.wrappers.TimeLimit,
)


def layers(env: Any) -> Iterator[Any]:
    """The environment and what it wraps, the outermost first."""
    while env is not None:
        yield env
        inner = vars(env).get("env") if hasattr(env, "__dict__") else None
        env = inner if hasattr(inner, "step") else None


def takes_seed(env: Any) -> bool:
    """Whether every layer's `reset` takes a seed, as Gymnasium's interface has it."""
    return all(takes(layer.reset, "seed") for layer in layers(env) if hasattr(layer, "reset"))


def is_old(env: Any) -> bool:
    """Whether an environment has gym's interface, by what is known without stepping it.

    Its `reset` takes no seed; its spaces are of the package gym; or one of its layers says that it
    gives four values (`gives_four_values`). One that was adapted already is none.
    """
    found = list(layers(env))
    if any(getattr(layer, "is_adapted", False) for layer in found):
        return False
    spaces = (getattr(env, name, None) for name in ("observation_space", "action_space"))
    are_gyms = any(type(space).__module__.startswith("gym.") for space in spaces)
    says_so = any(getattr(layer, "gives_four_values", False) for layer in found)
    return are_gyms or says_so or not takes_seed(env)


def takes(function: Any, name: str) -> bool:
    """Whether a function takes a keyword of that name, or any."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function that was not written in Python
        return True
    kinds = [one.kind for one in parameters.values()]
    return name in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def without_makers_wrappers(env: Any) -> tuple[Any, int | None]:
    """An environment of gym's interface as its author wrote it, and the time limit it had.

    `gymnasium.make` puts wrappers around whatever was registered, which fail for four values.
    One of Gymnasium's interface is returned as it is.
    """
    innermost = list(layers(env))[-1]
    if takes_seed(innermost):
        return env, None
    limit = None
    while isinstance(env, _PUT_BY_MAKE):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            limit = int(env._max_episode_steps)
        env = env.env
    return env, limit


def observation_of_reset(result: Any) -> Any:
    """The observation in what `reset` gave, of either interface."""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict):
        return result[0]
    return result
