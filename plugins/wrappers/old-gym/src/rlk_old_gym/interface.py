"""Which interface an environment has: that of the old package gym, or Gymnasium's.

gym's: `reset()` returns the observation, `step(action)` returns four values (observation, reward,
done, info), and `seed(seed)` seeds. Gymnasium's: `reset(seed=…, options=…)` returns (observation,
info), and `step(action)` five values.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium

#: The wrappers of `gymnasium.make`. They work only with Gymnasium's interface.
_PUT_BY_MAKE = (
    gymnasium.wrappers.PassiveEnvChecker,
    gymnasium.wrappers.OrderEnforcing,
    gymnasium.wrappers.TimeLimit,
)


def layers(env: Any) -> Iterator[Any]:
    """The environment and all that it wraps, the outermost first."""
    while env is not None:
        yield env
        inner = vars(env).get("env") if hasattr(env, "__dict__") else None
        env = inner if hasattr(inner, "reset") and hasattr(inner, "step") else None


def takes_seed(env: Any) -> bool:
    """Whether every layer's `reset` takes a seed, as Gymnasium's interface has it."""
    return all(takes(layer.reset, "seed") for layer in layers(env) if hasattr(layer, "reset"))


def may_return_no_info(reset: Any) -> bool:
    """Whether `reset` has gym 0.22's `return_info=False`: by default, it gives no info."""
    asked = (_parameters(reset) or {}).get("return_info")
    return asked is not None and asked.default is False


def seeds_by_method(env: Any) -> bool:
    """Whether the innermost environment has a method `seed`, and its `reset` names no seed."""
    innermost = list(layers(env))[-1]
    return hasattr(innermost, "seed") and not _names(innermost.reset, "seed")


def is_old(env: Any) -> bool:
    """Whether an environment has gym's interface, as far as that is known without a step.

    It has if its `reset` takes no seed, if its spaces are of the package gym, or if one of its
    layers has `gives_four_values`. An environment that was adapted already has not.
    """
    found = list(layers(env))
    if any(getattr(layer, "is_adapted", False) for layer in found):
        return False
    spaces = (getattr(env, name, None) for name in ("observation_space", "action_space"))
    classes = (one for space in spaces for one in type(space).__mro__)
    are_gyms = any(one.__module__.startswith("gym.") for one in classes)
    says_so = any(getattr(layer, "gives_four_values", False) for layer in found)
    return are_gyms or says_so or not takes_seed(env)


def takes(function: Any, name: str) -> bool:
    """Whether a function takes a keyword argument of that name, or any keyword."""
    parameters = _parameters(function)
    if parameters is None:
        return True
    kinds = [one.kind for one in parameters.values()]
    return name in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def _names(function: Any, name: str) -> bool:
    """Whether a function has a parameter of that name; any keyword (**kwargs) does not count."""
    parameters = _parameters(function)
    return parameters is None or name in parameters


def _parameters(function: Any) -> Mapping[str, inspect.Parameter] | None:
    """The parameters of a function; None if it is not written in Python."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def without_makers_wrappers(env: Any) -> tuple[Any, int | None]:
    """An environment of gym's interface as its author wrote it, and its time limit.

    `gymnasium.make` puts wrappers around every registered environment, which fail if `step` returns
    four values. An environment of Gymnasium's interface is returned unchanged. Whether one
    with a `reset` as in gym 0.22 to 0.25 has four values is not known; its wrappers are removed.
    """
    innermost = list(layers(env))[-1]
    may_be_old = may_return_no_info(innermost.reset) or seeds_by_method(innermost)
    if takes_seed(innermost) and not may_be_old:
        return env, None
    limit = None
    while isinstance(env, _PUT_BY_MAKE):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            found = int(env._max_episode_steps)
            limit = found if limit is None else min(limit, found)
        env = env.env
    return env, limit


def observation_of_reset(result: Any, space: Any) -> Any:
    """The observation in the result of `reset`, of either interface.

    Args:
        space: of the observations, one of Gymnasium's.
    """
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        return result
    if isinstance(space, gymnasium.spaces.Tuple):  # whose observation may end with a dict, too
        first = result[0]
        if not isinstance(first, tuple | list) or len(first) != len(space.spaces):
            return result
    return result[0]
