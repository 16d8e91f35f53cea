"""The losses of soft actor-critic: Haarnoja et al. 2018, arXiv 1801.01290 and 1812.05905.

Shapes: B transitions, C critics. alpha is the entropy coefficient, 0-dim; its own loss is in
`rlk_off_policy.entropy_coefficient`.
"""

from __future__ import annotations

from torch import Tensor


def soft_target(
    reward: Tensor, discount: Tensor, next_q: Tensor, next_log_prob: Tensor, alpha: Tensor
) -> Tensor:
    """y = r + discount (min_c Q_target_c(s', a') - alpha log pi(a'|s')), float [B].

    1812.05905, eq. 5 and 6.

    Args:
        reward: float [B].
        discount: float [B], gamma * (1 - terminated). A truncated episode keeps its gamma: the
            state after a time limit still has value.
        next_q: float [C, B], of the target critics at an action a' that the actor would take now.
        next_log_prob: float [B], of that action.
    """
    return reward + discount * (next_q.amin(0) - alpha * next_log_prob)


def critic_loss(q: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """1/2 sum_c E[w (Q_c(s, a) - y)^2], 0-dim; 1812.05905, eq. 5, summed over critics.

    Args:
        q: float [C, B]. target, weight: float [B].
    """
    return 0.5 * (weight * (q - target).square()).mean(1).sum()


def actor_loss(q: Tensor, log_prob: Tensor, alpha: Tensor) -> Tensor:
    """E[alpha log pi(a|s) - min_c Q_c(s, a)], 0-dim; 1812.05905, eq. 9.

    Args:
        q: float [C, B], of the critics at an action that the actor takes now, differentiable.
        log_prob: float [B], of that action.
    """
    return (alpha * log_prob - q.amin(0)).mean()
