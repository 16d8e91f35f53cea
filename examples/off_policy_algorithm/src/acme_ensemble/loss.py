"""The formulas: Lillicrap et al. 2016, arXiv 1509.02971; Chen et al. 2021, arXiv 2101.05982.

Shapes: B transitions, C critics, D numbers per action.
"""

from __future__ import annotations

from torch import Tensor


def least_of_two_target(reward: Tensor, discount: Tensor, next_q: Tensor, order: Tensor) -> Tensor:
    """y = r + discount * min(Q_i(s', a'), Q_j(s', a')), float [B].

    Args:
        reward: float [B].
        discount: float [B], gamma * (1 - terminated). A truncated episode keeps its gamma: the
            state after a time limit still has value.
        next_q: float [C, B], of all target critics.
        order: float [B, C], random numbers; for each transition the two critics with the lowest
            are i and j.
    """
    pair = order.argsort(1)[:, :2]
    return reward + discount * next_q.T.gather(1, pair).amin(1)


def critic_loss(q: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """sum_c E[w (Q_c(s, a) - y)^2], 0-dim, for q float [C, B]; target, weight float [B]."""
    return (weight * (q - target).square()).mean(1).sum()


def actor_loss(q: Tensor) -> Tensor:
    """-E[mean_c Q_c(s, pi(s))], 0-dim, for float [C, B]."""
    return -q.mean()
