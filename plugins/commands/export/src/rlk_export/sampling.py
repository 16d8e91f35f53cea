"""Observations for testing a program. B of them in a batch."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.records import Array
from rlk.spaces import Space

#: A Box that is wider than this is sampled near 0, or near its bound that is nearest to 0.
WIDE = 1e3
#: How far from there samples may be, as far as the bounds allow it: a part of a large bound.
NEAR, NEAR_PART = 10.0, 1e-3


def observations(space: Space, size: int, rng: np.random.Generator) -> Any:
    """A batch of elements of a flat space, [B, ...], a dict of them for a Dict."""
    if isinstance(space, gym.spaces.Dict):
        return {key: observations(part, size, rng) for key, part in space.spaces.items()}
    if isinstance(space, gym.spaces.Box):
        return _numbers(space, size, rng)
    ours = copy.deepcopy(space)
    ours.seed(int(rng.integers(2**31)))
    found: Array = np.stack([np.asarray(ours.sample()) for _ in range(size)])
    return found


def _numbers(space: gym.spaces.Box, size: int, rng: np.random.Generator) -> Array:
    """Uniform between the bounds; in what float32 tells apart where these are infinite or large."""
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)
    with np.errstate(over="ignore"):
        wide = ~(high - low <= WIDE)
    middle = np.clip(0.0, low, high)
    near = np.maximum(NEAR, NEAR_PART * np.abs(middle))
    low, high = (
        np.where(wide, np.clip(middle - near, low, high), low),
        np.where(wide, np.clip(middle + near, low, high), high),
    )
    shape = (size, *space.shape)
    if np.issubdtype(space.dtype, np.floating):
        return rng.uniform(low, high, shape).astype(space.dtype)
    return rng.integers(np.ceil(low), np.floor(high), shape, endpoint=True).astype(space.dtype)
