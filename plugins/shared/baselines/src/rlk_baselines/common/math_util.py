"""Small mathematical functions that programs for Stable Baselines use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rlk.records import Array


def safe_mean(arr: Any) -> float:
    """The mean, or NaN for an empty sequence."""
    return float(np.mean(arr)) if len(arr) else float("nan")


def explained_variance(y_pred: Array, y_true: Array) -> float:
    """1 - Var[y_true - y_pred] / Var[y_true] of arrays [B]; NaN if y_true is constant."""
    variance = np.var(y_true)
    return float("nan") if variance == 0 else float(1 - np.var(y_true - y_pred) / variance)


def explained_variance_2d(y_pred: Array, y_true: Array) -> Array:
    """The explained variance of every column of [B, D], float [D]; 0 where y_true is constant.

    Deviation: Stable Baselines 2.10 takes the variance of the errors over all columns together.
    """
    variance = np.var(y_true, axis=0)
    is_constant = variance < 1e-10
    left: Array = np.var(y_true - y_pred, axis=0) / np.where(is_constant, 1.0, variance)
    return np.where(is_constant, 0.0, 1.0 - left)


def flatten_arrays(arrs: Iterable[Array]) -> Array:
    """The elements of several arrays, concatenated into one vector."""
    return np.concatenate([np.ravel(one) for one in arrs])


def unflatten_vector(vec: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The inverse of `flatten_arrays`: arrays of these shapes from a vector."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(vec[: ends[-1]], ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def discount(vector: Array, gamma: float) -> Array:
    """out[t] = vector[t] + gamma vector[t+1] + gamma^2 vector[t+2] + …, along the first axis."""
    found = np.zeros_like(np.asarray(vector, np.float64))
    following = np.zeros(found.shape[1:])
    for t in reversed(range(len(found))):
        following = vector[t] + gamma * following
        found[t] = following
    return found


def discount_with_boundaries(rewards: Any, episode_starts: Any, gamma: float) -> Array:
    """Discounted sums as by `discount`, without what follows the end of an episode.

    Args:
        rewards: float [T], or [T, N] for N environments.
        episode_starts: bool, of the same shape, whether a step is the first of an episode.
        gamma: the discount factor.
    """
    found = np.array(rewards, np.float64)
    continues = 1.0 - np.asarray(episode_starts, np.float64)
    for t in reversed(range(len(found) - 1)):
        found[t] += gamma * continues[t + 1] * found[t + 1]
    return found


def scale_action(action_space: Any, action: Array) -> Array:
    """Scale an action from the bounds of a Box to [-1, 1]."""
    low, high = action_space.low, action_space.high
    scaled: Array = 2.0 * ((action - low) / (high - low)) - 1.0
    return scaled


def unscale_action(action_space: Any, scaled_action: Array) -> Array:
    """Scale an action from [-1, 1] to the bounds of a Box."""
    low, high = action_space.low, action_space.high
    found: Array = low + 0.5 * (scaled_action + 1.0) * (high - low)
    return found
