"""Observations and actions as rows of numbers for a discriminator. B transitions, K numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

#: Standard deviations at which normalised observations are clipped.
CLIP = 10.0


def size_of(space: Any) -> int:
    """K: how many numbers one element of a space is; a whole number is as many as it has values."""
    return int(spaces.flatdim(space))


def observation_rows(space: Any, observation: Array) -> Array:
    """float64 [B, K] of observations [B, *shape]; one-hot where they are Discrete."""
    if isinstance(space, spaces.Discrete):
        return _one_hot(observation[:, None] - space.start, np.array([space.n]))
    if isinstance(space, spaces.MultiDiscrete):
        counted = (observation - space.start).reshape(len(observation), -1)
        return _one_hot(counted, space.nvec.reshape(-1))
    return observation.reshape(len(observation), -1).astype(np.float64)


def action_rows(space: Any, action: Array) -> Array:
    """float64 [B, K] of actions as a storage keeps them, [B] or [B, D], clipped to a Box."""
    flat = action.reshape(len(action), -1)
    if isinstance(space, spaces.Discrete):
        return _one_hot(flat, np.array([space.n]))
    if isinstance(space, spaces.MultiDiscrete):
        return _one_hot(flat, space.nvec.reshape(-1))
    if isinstance(space, spaces.Box):
        return np.clip(flat, space.low.reshape(-1), space.high.reshape(-1)).astype(np.float64)
    return flat.astype(np.float64)


def _one_hot(whole: Array, sizes: Array) -> Array:
    """Whole numbers [B, D] of so many values each, side by side, [B, sum of sizes]."""
    parts = [np.eye(int(size))[whole[:, i].astype(int)] for i, size in enumerate(sizes)]
    return np.concatenate(parts, axis=1)
