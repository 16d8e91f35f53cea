"""What an environment may return from `reset` and `step`, and the errors for anything else.

Numbers outside the bounds of a Box are accepted: many environments exceed them, and nothing depends
on them. A number that a discrete space does not have is wrong, because it has no one-hot vector.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk.spaces import Space, describe
from rlk_vector_environments.failures import WrongResult, name_of, wrappers_of

#: The types that `terminated` and `truncated` may have.
FLAGS = (bool, np.bool_)
_NUMBERS = "biuf"
#: The name of an observation; the names of its parts begin with it.
OBSERVATION = "observation"
#: What else to do about an observation alone, or four values.
_OLD = (
    " If it was written for the old package gym, use --plugin old-gym, in Python "
    "plugins=['old-gym']."
)


class Wrong(NamedTuple):
    """What is wrong with a result: which field, what it was, and what it must be."""

    field: str
    found: str
    expected: str


def check_reset(index: int, env: gym.Env[Any, Any], result: Any) -> None:
    """Does nothing if `reset` returned an observation of the space and a dict.

    Args:
        index: of the environment in the vector.

    Raises:
        WrongResult: if not; names the environment and the field, what was found and expected.
    """
    wrong = wrong_in_reset(env.observation_space, result)
    _refuse(index, env, "reset", wrong, "" if isinstance(result, tuple) else _OLD)


def check_step(index: int, env: gym.Env[Any, Any], result: Any) -> None:
    """The same for `step`: an observation, a reward, two flags and a dict."""
    is_old = isinstance(result, tuple) and len(result) == 4
    wrong = wrong_in_step(env.observation_space, result)
    _refuse(index, env, "step", wrong, _OLD if is_old else "")


def wrong_in_reset(observation_space: Space, result: Any) -> Wrong | None:
    """The first thing that is wrong with what `reset` returned; None if nothing is."""
    if not isinstance(result, tuple) or len(result) != 2:
        return _other_values(result, "(observation, info)")
    return _observation(observation_space, result[0]) or _info(result[1])


def wrong_in_step(observation_space: Space, result: Any) -> Wrong | None:
    """The same for what `step` returned."""
    if not isinstance(result, tuple) or len(result) != 5:
        return _other_values(result, "(observation, reward, terminated, truncated, info)")
    observation, reward, terminated, truncated, info = result
    return (
        _observation(observation_space, observation)
        or _reward(reward)
        or _flag("terminated", terminated)
        or _flag("truncated", truncated)
        or _info(info)
    )


def _refuse(index: int, env: gym.Env[Any, Any], when: str, wrong: Wrong | None, hint: str) -> None:
    if wrong is not None:
        around = ", ".join(type(one).__name__ for one in wrappers_of(env))
        whose = "the environment" + (f", or what is around it ({around})," if around else "")
        also = ", or correct its observation_space" if wrong.field.startswith(OBSERVATION) else ""
        raise WrongResult(
            f"environment {index} ({name_of(env)}) gave a wrong {wrong.field} in {when}: "
            f"{wrong.found}; expected {wrong.expected}.\nNothing of this {when} was stored. Let "
            f"{whose} return that{also}.{hint}"
        )


def _other_values(result: Any, expected: str) -> Wrong:
    found = f"{len(result)} values" if isinstance(result, tuple) else _shown(result)
    return Wrong("result", found, expected)


def _observation(space: Space, sample: Any, field: str = OBSERVATION) -> Wrong | None:
    if isinstance(space, gym.spaces.Dict):
        return _parts(space, sample, field)
    if isinstance(space, gym.spaces.Tuple):
        if not isinstance(sample, (tuple, list)) or len(sample) != len(space.spaces):
            return Wrong(field, _shown(sample), f"a tuple of {len(space.spaces)}")
        pairs = enumerate(zip(space.spaces, sample, strict=True))
        return _first(_observation(sub, part, f"{field}[{i}]") for i, (sub, part) in pairs)
    return _array(space, sample, field)


def _parts(space: gym.spaces.Dict, sample: Any, field: str) -> Wrong | None:
    if not isinstance(sample, Mapping):
        return Wrong(field, _shown(sample), f"a dict with the keys {list(space.spaces)}")
    missing = [key for key in space.spaces if key not in sample]
    if missing:
        return Wrong(field, f"a dict with the keys {list(sample)}", f"the key {missing[0]!r} too")
    parts = space.spaces.items()
    return _first(_observation(sub, sample[key], f"{field}[{key!r}]") for key, sub in parts)


def _array(space: Space, sample: Any, field: str) -> Wrong | None:
    """The first error in a sample of a space of arrays."""
    try:
        array = np.asarray(sample)
    except ValueError:  # nested lists of different lengths
        array = np.asarray(None)
    shape, dtype = space.shape or (), np.dtype(space.dtype)
    wanted = f"{dtype} of shape {shape}, as in {describe(space)}"
    if array.dtype.kind not in _NUMBERS:
        return Wrong(field, _shown(sample), wanted)
    if array.shape != shape:
        return Wrong(field, f"{array.dtype} of shape {array.shape}", wanted)
    if array.dtype.kind == "f" and dtype.kind != "f":
        return Wrong(field, f"{array.dtype}, which may be fractions", wanted)
    low, high = _bounds(space)
    if low is not None and not ((array >= low) & (array <= high)).all():
        return Wrong(field, _shown(sample), f"an element of {space}")
    return None


def _bounds(space: Space) -> tuple[Any, Any]:
    """The first and the last value of a countable space, or None and None."""
    if isinstance(space, gym.spaces.Discrete):
        return space.start, space.start + space.n - 1
    if isinstance(space, gym.spaces.MultiDiscrete):
        return space.start, space.start + space.nvec - 1
    return (0, 1) if isinstance(space, gym.spaces.MultiBinary) else (None, None)


def _reward(reward: Any) -> Wrong | None:
    if isinstance(reward, int) and abs(reward) > sys.float_info.max:
        found = f"a whole number of {reward.bit_length()} bits"
        return Wrong("reward", found, "a number that a float can hold")
    if isinstance(reward, (int, float)):
        return None
    array = np.asarray(reward)
    if array.shape == () and array.dtype.kind in _NUMBERS:
        return None
    return Wrong("reward", _shown(reward), "one number")


def _flag(field: str, flag: Any) -> Wrong | None:
    return None if isinstance(flag, FLAGS) else Wrong(field, _shown(flag), "True or False")


def _info(info: Any) -> Wrong | None:
    return None if isinstance(info, dict) else Wrong("info", _shown(info), "a dict, if empty")


def _first(found: Any) -> Wrong | None:
    return next((wrong for wrong in found if wrong is not None), None)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = f" of shape {value.shape}"
        return f"an array of {value.dtype}{shape}" if value.size > 1 else f"{value!r}{shape}"
    return f"{value!r:.60} ({type(value).__name__})"
