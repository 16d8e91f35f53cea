"""The DQN loss: Mnih et al. 2015 (doi:10.1038/nature14236).

Double Q-learning is van Hasselt et al. 2016, arXiv 1509.06461.

Shapes: B transitions, A discrete actions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def q_target(reward: Tensor, discount: Tensor, next_q_target: Tensor) -> Tensor:
    """y = r + discount * max_a Q_target(s', a), float [B].

    Args:
        reward: float [B].
        discount: float [B], gamma * (1 - terminated). A truncated episode keeps its gamma: the
            state after a time limit still has value.
        next_q_target: float [B, A], the target network at the next observation.
    """
    return reward + discount * next_q_target.amax(1)


def double_q_target(
    reward: Tensor, discount: Tensor, next_q: Tensor, next_q_target: Tensor
) -> Tensor:
    """y = r + discount * Q_target(s', argmax_a Q(s', a)), float [B].

    Args:
        reward, discount, next_q_target: as in `q_target`.
        next_q: float [B, A], the online network at the next observation.
    """
    chosen = next_q_target.gather(1, next_q.argmax(1, keepdim=True)).squeeze(1)
    return reward + discount * chosen


def huber_loss(error: Tensor, weight: Tensor) -> Tensor:
    """E[w huber(e)], 0-dim: quadratic within 1 and linear beyond.

    With c, the error e clipped to -1 to 1, huber(e) = c (e - c / 2): e^2 / 2 for |e| <= 1, else
    |e| - 1 / 2. Its derivative is c, as in the paper.

    Args:
        error: float [B], Q(s, a) - y.
        weight: float [B], w; not differentiated.
    """
    clipped = error.detach().clamp(-1.0, 1.0)
    return torch.dot(weight / len(weight) * clipped, torch.sub(error, clipped, alpha=0.5))
