"""The losses of DDPG: Lillicrap et al. 2016, arXiv 1509.02971, algorithm 1.

Shapes: B transitions. Q~ is a critic's output; Q = mu + sigma Q~, where mu and sigma are the mean
and standard deviation of returns (`value_scale.py`), 0 and 1 if returns are not
normalised.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def q_target(reward: Tensor, discount: Tensor, next_q: Tensor, reward_scale: float) -> Tensor:
    """y = c r + discount * Q_target(s', pi_target(s')), float [B].

    Args:
        reward: float [B].
        discount: float [B], gamma * (1 - terminated). A truncated episode keeps its gamma: the
            state after a time limit still has value.
        next_q: float [B], of the target critic at the target policy's action.
        reward_scale: c.
    """
    return reward_scale * reward + discount * next_q


def critic_loss(q: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """E[w (Q~(s, a) - y~)^2], 0-dim; all float [B]."""
    return (weight * (q - target).square()).mean()


def l2_penalty(weights: Sequence[Tensor], coefficient: float) -> Tensor:
    """coefficient * sum w^2 / 2 over all elements of all weights, 0-dim."""
    squares = torch.stack([weight.square().sum() for weight in weights])
    return coefficient / 2.0 * squares.sum()


def actor_loss(q: Tensor) -> Tensor:
    """-E[Q(s, pi(s))], 0-dim: the deterministic policy gradient, eq. 6.

    Args:
        q: float [B], at the policy's own actions, differentiable.
    """
    return -q.mean()
