"""Observations for testing a program. B of them in a batch."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.records import Array
from rlk.spaces import Space

#: A Box that is wider than this is sampled near 0.
WIDE = 1e3
#: The range of these samples, as far as the bounds allow it.
NEAR = 10.0


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
    low = np.where(wide, np.clip(-NEAR, low, high), low)
    high = np.where(wide, np.clip(NEAR, space.low, high), high)
    shape = (size, *space.shape)
    if np.issubdtype(space.dtype, np.floating):
        return rng.uniform(low, high, shape).astype(space.dtype)
    return rng.integers(np.ceil(low), np.floor(high), shape, endpoint=True).astype(space.dtype)
