"""Generalised advantage estimation: Schulman et al. 2016, arXiv 1506.02438, eq. 16.

Shapes: T steps, N environments. Truncated episodes bootstrap from the value of their final
observation, terminated ones from zero (Pardo et al. 2018, arXiv 1712.00378); Stable Baselines 2.10
takes zero for both.
"""

from __future__ import annotations

import numpy as np

from rlk.records import Array


def next_values(
    value: Array,
    last_value: Array,
    terminated: Array,
    truncated: Array,
    final_time: Array,
    final_env: Array,
    final_value: Array,
) -> Array:
    """V(s') of every step as its target needs it, float32 [T, N].

    Args:
        value: float [T, N], V of each step's observation.
        last_value: float [N], V of the observation after the last step.
        terminated, truncated: bool [T, N].
        final_time, final_env: int [F], where episodes ended.
        final_value: float [F], V of their final observations.
    """
    following = np.empty_like(value)
    following[:-1] = value[1:]
    following[-1] = last_value
    following[final_time, final_env] = final_value
    following[terminated] = 0.0
    return following


def gae(
    reward: Array, value: Array, next_value: Array, ended: Array, gamma: float, lam: float
) -> Array:
    """A_t = delta_t + gamma * lam * (1 - ended_t) * A_{t+1}.

    With delta_t = r_t + gamma * V(s'_t) - V(s_t).

    Args:
        reward, value, next_value: float32 [T, N]; see `next_values`.
        ended: bool [T, N], where an episode ended with this step, by either flag.
        gamma, lam: 0 to 1.

    Returns:
        float32 [T, N].
    """
    delta = reward + np.float32(gamma) * next_value - value
    decay = np.float32(gamma * lam) * ~ended
    advantage = np.empty_like(delta)
    following = np.zeros(delta.shape[1:], dtype=delta.dtype)
    for t in reversed(range(len(delta))):
        advantage[t] = following = delta[t] + decay[t] * following
    return advantage
