"""Small pieces of mathematics that programs of Stable Baselines use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rlk.records import Array


def safe_mean(arr: Any) -> float:
    """The mean, or NaN of nothing."""
    return float(np.mean(arr)) if len(arr) else float("nan")


def explained_variance(y_pred: Array, y_true: Array) -> float:
    """1 - Var[y_true - y_pred] / Var[y_true], both [B]; NaN where y_true never changes."""
    variance = np.var(y_true)
    return float("nan") if variance == 0 else float(1 - np.var(y_true - y_pred) / variance)


def explained_variance_2d(y_pred: Array, y_true: Array) -> Array:
    """The same for every column of [B, D]: float [D]; 0 where y_true never changes."""
    variance = np.var(y_true, axis=0)
    found: Array = 1 - np.var(y_true - y_pred, axis=0) / (variance + 1e-8)
    found[variance < 1e-10] = 0
    return found


def flatten_arrays(arrs: Iterable[Array]) -> Array:
    """All numbers of several arrays, one after the other."""
    return np.concatenate([np.ravel(one) for one in arrs])


def unflatten_vector(vec: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Arrays of these shapes, of the numbers that `flatten_arrays` gave."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(vec[: ends[-1]], ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def discount(vector: Array, gamma: float) -> Array:
    """out[t] = vector[t] + gamma vector[t+1] + gamma^2 vector[t+2] + …, along the first axis."""
    found = np.zeros_like(np.asarray(vector, np.float64))
    following = np.zeros_like(found[0])
    for t in reversed(range(len(found))):
        following = vector[t] + gamma * following
        found[t] = following
    return found


def discount_with_boundaries(rewards: Array, episode_starts: Array, gamma: float) -> Array:
    """As `discount`, [T], where an episode that starts at t takes nothing to t - 1."""
    found = np.zeros(len(rewards))
    following = 0.0
    for t in reversed(range(len(found))):
        following = rewards[t] + gamma * following
        found[t] = following
        if episode_starts[t]:
            following = 0.0
    return found


def scale_action(action_space: Any, action: Array) -> Array:
    """An action of a Box brought to -1 to 1."""
    low, high = action_space.low, action_space.high
    scaled: Array = 2.0 * ((action - low) / (high - low)) - 1.0
    return scaled


def unscale_action(action_space: Any, scaled_action: Array) -> Array:
    """An action of -1 to 1 brought to a Box."""
    low, high = action_space.low, action_space.high
    found: Array = low + 0.5 * (scaled_action + 1.0) * (high - low)
    return found
