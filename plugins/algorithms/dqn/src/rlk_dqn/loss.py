"""The DQN loss: Mnih et al. 2015 (doi:10.1038/nature14236).

With double Q-learning (van Hasselt 2016, arXiv 1509.06461).

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


def huber_loss(q: Tensor, target: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """(E[weight * huber(e)], e) with e = q - target: quadratic within 1 and linear beyond.

    huber(e) = c * e - c^2 / 2 with c = e clipped to 1. c counts as a constant: the gradient is then
    c, as it must be in both parts, and the mean is a dot product with q less other constants: two
    nodes to walk back, a fifth of the usual form.

    Args:
        q, target, weight: float [B]; only q is differentiated.

    Returns:
        The mean, 0-dim, and the temporal-difference error without gradient, float [B].
    """
    td_error = q.detach() - target
    clipped = td_error.clamp(-1.0, 1.0)
    share = weight * clipped / len(weight)
    return torch.dot(share, q - torch.add(target, clipped, alpha=0.5)), td_error
