"""Whether an observation has the structure of its space, as a run needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np


def why_unfit(space: gym.Space[Any], observation: Any, where: str = "the observation") -> str:
    """What is wrong with an observation in words; "" if it fits.

    Its dtype may be another, because it is cast, and the numbers of a Box may be beyond its bounds,
    on which nothing depends. A number that a discrete space lacks has no one-hot vector.
    """
    if isinstance(space, gym.spaces.Dict):
        if not isinstance(observation, Mapping) or not space.spaces.keys() <= observation.keys():
            return f"{where} is {observation!r}, must be a dict with the keys {list(space.spaces)}"
        of_keys = (
            why_unfit(one, observation[key], f"{where}[{key!r}]")
            for key, one in space.spaces.items()
        )
        return next(filter(None, of_keys), "")
    if isinstance(space, gym.spaces.Tuple):
        if not isinstance(observation, (tuple, list)) or len(observation) != len(space.spaces):
            return f"{where} is {observation!r}, must be a tuple of {len(space.spaces)}"
        of_items = (
            why_unfit(one, observation[i], f"{where}[{i}]") for i, one in enumerate(space.spaces)
        )
        return next(filter(None, of_items), "")
    if space.shape is None or space.dtype is None:  # of text, a graph or a sequence
        return "" if space.contains(observation) else f"{where} {observation!r} is not in {space}"
    array = np.asarray(observation)
    if array.dtype.kind not in "biuf" or array.shape != space.shape:
        return f"{where} is {array.dtype} of shape {array.shape}, must be in {space}"
    if isinstance(space, gym.spaces.Box):
        return "" if np.isfinite(array).all() else f"{where} is not finite: {observation!r}"
    cast = array.astype(space.dtype)
    fits = np.array_equal(cast, array) and space.contains(cast if cast.ndim else cast[()])
    return "" if fits else f"{where} is {observation!r}, which is not in {space}"
