"""Spaces: checks that observations can be stored and processed, and that actions can be learnt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.planning.usable_spaces import why_unusable
from rlk.spaces import describe, flat_space
from rlk_env_check.finding import Finding, error, warning

#: Width and height in pixels that the convolutions of the policy `cnn` need.
LEAST_PIXELS = 36
_ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
_KINDS = "Box, Discrete, MultiDiscrete or MultiBinary"


def findings(env: Any) -> Iterator[Finding]:
    """Findings about both spaces of an environment."""
    for name in ("observation_space", "action_space"):
        space = getattr(env, name, None)
        if not isinstance(space, gym.Space):
            found = "has none" if space is None else f"has {type(space).__module__}.{space!r:.60}"
            yield error(f"{name} must be a space of gymnasium.spaces; the environment {found}.")
            return
    observation_space, action_space = env.observation_space, env.action_space
    yield from _unusable(observation_space, action_space)
    yield from _observations("observation_space", observation_space)
    if isinstance(action_space, spaces.Box):
        yield from _continuous_actions(action_space)


def _unusable(observation_space: Any, action_space: Any) -> Iterator[Finding]:
    """Spaces that nothing in rlk supports."""
    if not isinstance(action_space, _ARRAYS):
        yield error(
            f"action_space is {describe(action_space)}, and agents learn actions that are a "
            f"{_KINDS}. Convert it (gymnasium.wrappers.TransformAction)."
        )
        return
    if not isinstance(observation_space, (*_ARRAYS, spaces.Dict, spaces.Tuple)):
        yield error(
            f"observation_space is {describe(observation_space)}, and agents observe a {_KINDS}, "
            "or a Dict of those. Convert it (gymnasium.wrappers.TransformObservation), or leave "
            "that part out (FilterObservation)."
        )
        return
    try:
        unusable = why_unusable(flat_space(observation_space), action_space)
    except ValueError as problem:
        unusable = f"{problem}. Rename one of them."
    if unusable:
        yield error(unusable)


def _observations(where: str, space: Any) -> Iterator[Finding]:
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            yield from _observations(f"{where}[{key!r}]", part)
    elif isinstance(space, spaces.Tuple):
        for index, part in enumerate(space.spaces):
            yield from _observations(f"{where}[{index}]", part)
    elif isinstance(space, spaces.Box):
        yield from _equal_bounds(where, space)
        if len(space.shape) == 3:
            yield from _image(where, space)
        elif len(space.shape) > 1:
            yield warning(
                f"{where} has the shape {space.shape}, neither a vector nor an image [height, "
                "width, channels]. Policies flatten it to a vector; reshape it if it is an image "
                "(gymnasium.wrappers.ReshapeObservation)."
            )


def _image(where: str, space: spaces.Box) -> Iterator[Finding]:
    """A Box of three axes, which is usually an image."""
    if space.dtype != np.uint8 or np.any(space.low != 0) or np.any(space.high != 255):
        yield warning(
            f"{where} has three axes, like an image, but is {space.dtype} from "
            f"{space.low.min():g} to {space.high.max():g}. Policies recognise an image only as "
            "uint8 from 0 to 255, and divide it by 255 themselves; they flatten this to a vector."
        )
    height, width = sorted(space.shape)[1:]
    if min(height, width) < LEAST_PIXELS:
        yield warning(
            f"{where} has {height}x{width} pixels; the policy cnn needs at least {LEAST_PIXELS} "
            "each way. Use another policy, or enlarge images "
            "(gymnasium.wrappers.ResizeObservation)."
        )


def _equal_bounds(where: str, space: spaces.Box) -> Iterator[Finding]:
    if np.any(np.isnan(space.low)) or np.any(np.isnan(space.high)):
        yield error(f"{where} has bounds that are NaN.")
    elif space.low.size and np.any(space.low == space.high):
        yield warning(
            f"{where} has numbers whose lower and upper bounds are equal: they never change."
        )


def _continuous_actions(space: spaces.Box) -> Iterator[Finding]:
    yield from _equal_bounds("action_space", space)
    low, high = space.low, space.high
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        yield warning(
            "action_space has no finite bounds: off-policy algorithms, which learn actions "
            "between bounds, refuse it. Give it bounds."
        )
    elif np.any(low != -high) or np.any(high != 1.0):
        yield warning(
            f"action_space goes from {low.min():g} to {high.max():g}. A Gaussian policy begins "
            "with a mean of 0 and a standard deviation of 1, so bounds of -1 and 1 work best: "
            "rescale actions (gymnasium.wrappers.RescaleAction)."
        )
    if space.dtype != np.float32:
        yield warning(
            f"action_space is {space.dtype}; actions of policies are float32 and are cast to it."
        )
