"""Gymnasium spaces as rlk sees them: what kind one is, and whether an observation belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

Space = spaces.Space[Any]


def is_image(space: Space) -> bool:
    """Whether it holds images: uint8, 0 to 255, [height, width, channels] or channels first."""
    return (
        isinstance(space, spaces.Box)
        and space.dtype == np.uint8
        and len(space.shape) == 3
        and bool(np.all(space.low == 0) and np.all(space.high == 255))
    )


def kind(space: Space) -> str:
    """The name that capabilities are declared with: the class name, or `Image`."""
    return "Image" if is_image(space) else type(space).__name__


def describe(space: Space) -> str:
    """A short text for messages and plan.json, the bounds of a large Box left out."""
    return f"Box({space.shape}, {space.dtype})" if isinstance(space, spaces.Box) else str(space)


def map_observation(function: Callable[[Array], Any], observation: Any) -> Any:
    """`function` applied to an observation, or to each part of a Dict one."""
    if isinstance(observation, Mapping):
        return {key: map_observation(function, value) for key, value in observation.items()}
    return function(observation)


def batched(space: Space, observation: Any) -> tuple[Any, bool]:
    """The observation (array, list or dict) with a leading batch axis, and whether it had one;
    ValueError if the shape fits neither one observation nor a batch of them."""
    if isinstance(space, spaces.Dict):
        pairs = {key: batched(sub, observation[key]) for key, sub in space.spaces.items()}
        vectorised = {was for _, was in pairs.values()}
        if len(vectorised) > 1:
            raise ValueError("some parts of the observation are batched and others are not")
        return {key: value for key, (value, _) in pairs.items()}, vectorised.pop()
    array, shape = np.asarray(observation), space.shape or ()
    if shape not in (array.shape, array.shape[1:]):
        expected = f"{shape} or [B, *{shape}]"
        raise ValueError(f"an observation of this agent has shape {expected}, got {array.shape}")
    one = array.shape == shape
    return (array[None] if one else array), not one
