"""Spaces that rlk does not support, whichever components a run has.

A component declares the kinds of spaces that it supports (`Component.observation_spaces`,
`action_spaces`). This module checks what the kind does not tell. It imports Gymnasium, so planning
loads it only when there is an environment.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from rlk.spaces import Space, describe

_RESHAPE = "ReshapeObservation(env, (1,))"
_ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def why_unusable(observation_space: Space, action_space: Space) -> str | None:
    """Why observations or actions of these spaces can be neither stored nor computed with.

    Returns:
        Sentences that name the space and how to change it; None if both can be used.
    """
    return _observation(observation_space) or _action(action_space)


def or_wrap(space: Space, what: str) -> str:
    """A sentence on what else to do about a space that is neither arrays nor a dict of them.

    Args:
        what: `Observation` or `Action`.
    """
    is_plain = isinstance(space, _ARRAYS) or (isinstance(space, spaces.Dict) and what != "Action")
    return "" if is_plain else f"\nOr make a Box of it: gymnasium.wrappers.Transform{what}."


def _observation(space: Space) -> str | None:
    if not isinstance(space, spaces.Dict):
        return _array("its observation_space", space, _RESHAPE)
    if not space.spaces:
        return "its observation_space is a Dict without keys. Give it something to observe."
    for key in space.spaces:
        if not isinstance(key, str):
            return (
                f"its observation_space has the key {key!r}, which is not a text. Name it "
                f"{str(key)!r}, for example (gymnasium.wrappers.TransformObservation)."
            )
    for key, part in space.spaces.items():
        where = f"the key {key!r} of its observation_space"
        if not isinstance(part, _ARRAYS):
            return (
                f"{where} is {describe(part)}. What stands in a Dict or a Tuple may be a Box, "
                f"Discrete, MultiDiscrete or MultiBinary: leave it out ({_leave_out(space)}), or "
                "make a Box of it (gymnasium.wrappers.TransformObservation)."
            )
        found = _array(where, part, "TransformObservation")
        if found:
            return found
    return None


def _leave_out(space: spaces.Dict) -> str:
    """What to type to keep only the keys that are arrays; for nested keys, the wrapper's name."""
    keys = [key for key, part in space.spaces.items() if isinstance(part, _ARRAYS)]
    if not keys or not all(key.isidentifier() for key in space.spaces):
        return "gymnasium.wrappers.FilterObservation"
    return f"--plugin 'gymnasium.wrappers:FilterObservation:filter_keys=[{','.join(keys)}]'"


def _action(space: Space) -> str | None:
    found = _array("its action_space", space, "TransformAction")
    if found or not isinstance(space, spaces.Box) or np.issubdtype(space.dtype, np.floating):
        return found
    return (
        f"its action_space {describe(space)} is of whole numbers, which a Box cannot be here. Make "
        "it a MultiDiscrete (one number: a Discrete), or a Box of float32 whose actions the "
        "environment rounds (gymnasium.wrappers.TransformAction)."
    )


def _array(where: str, space: Space, wrapper: str) -> str | None:
    """What is wrong with a space of arrays, and the wrapper of Gymnasium that adds an axis."""
    if not isinstance(space, _ARRAYS) or isinstance(space, spaces.Discrete):
        return None
    if space.shape == ():
        return (
            f"{where} {describe(space)} has no axis. Give it the shape (1,): wrap the environment "
            f"in gymnasium.wrappers.{wrapper}."
        )
    if 0 in space.shape:
        return f"{where} {describe(space)} has no numbers in it. Leave it out, or give it some."
    if np.dtype(space.dtype).kind not in "biuf":
        return f"{where} is of {space.dtype}, which is not a number. Make it one of float32."
    return None
