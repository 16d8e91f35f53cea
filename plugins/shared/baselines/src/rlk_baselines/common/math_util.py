"""Small mathematical functions that programs for Stable Baselines use."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.records import Array
from rlk_action_scaling.scaling import divisor, middle_and_half


def safe_mean(arr: Any) -> float:
    """The mean, or NaN for an empty sequence."""
    return float(np.mean(arr)) if len(arr) else float("nan")


def explained_variance(y_pred: Array, y_true: Array) -> float:
    """1 - Var[y_true - y_pred] / Var[y_true] of arrays [B]; NaN if y_true is constant."""
    variance = np.var(y_true)
    return float("nan") if variance == 0 else float(1 - np.var(y_true - y_pred) / variance)


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
    """Scale an action from the bounds of a Box to [-1, 1]; where they are equal, to 0."""
    middle, half = middle_and_half(action_space)
    return (action - middle) / divisor(half)


def unscale_action(action_space: Any, scaled_action: Array) -> Array:
    """Scale an action from [-1, 1] to the bounds of a Box."""
    middle, half = middle_and_half(action_space)
    return middle + half * scaled_action
