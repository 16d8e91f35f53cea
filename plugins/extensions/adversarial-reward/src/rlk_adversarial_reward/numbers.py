"""Observations and actions as rows of numbers for a discriminator. B transitions, K numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

#: Standard deviations at which normalised observations are clipped.
CLIP = 10.0


def size_of(space: Any) -> int:
    """K: how many numbers represent an element of a space; an integer is one-hot encoded."""
    return int(spaces.flatdim(space))


def rows(space: Any, values: Array) -> Array:
    """float64 [B, K] of elements of a space, [B, *shape]; integers are one-hot encoded."""
    if isinstance(space, spaces.Discrete):
        return _one_hot(values[:, None] - space.start, np.array([space.n]))
    if isinstance(space, spaces.MultiDiscrete):
        counted = (values - space.start).reshape(len(values), space.nvec.size)
        return _one_hot(counted, space.nvec.reshape(-1))
    return values.reshape(len(values), size_of(space)).astype(np.float64)


def _one_hot(whole: Array, sizes: Array) -> Array:
    """Whole numbers [B, D] as one-hot vectors of these sizes, concatenated, [B, sum of sizes]."""
    parts = [np.zeros((len(whole), int(size))) for size in sizes]
    for part, column in zip(parts, whole.T.astype(int), strict=True):
        part[np.arange(len(whole)), column] = 1
    return np.concatenate(parts, axis=1)
