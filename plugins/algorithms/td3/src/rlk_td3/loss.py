"""The losses of TD3: Fujimoto et al. 2018, arXiv 1802.09477, algorithm 1.

Shapes: B transitions, C critics (two in the paper), D numbers per action. Actions are -1 to 1.
"""

from __future__ import annotations

from torch import Tensor


def smoothed_action(action: Tensor, noise: Tensor, sigma: float, clip: float) -> Tensor:
    """a~ = clip(pi_target(s') + clip(sigma * epsilon, -c, c), -1, 1), float [B, D].

    Target policy smoothing, section 5.3: similar actions should have similar values.

    Args:
        action: float [B, D], of the target policy at the next observation.
        noise: float [B, D], standard normal: epsilon.
        sigma, clip: at least 0.
    """
    return (action + (sigma * noise).clamp(-clip, clip)).clamp(-1.0, 1.0)


def clipped_double_q_target(reward: Tensor, discount: Tensor, next_q: Tensor) -> Tensor:
    """y = r + discount * min_c Q_target_c(s', a~), float [B]; section 4.2.

    Args:
        reward: float [B].
        discount: float [B], gamma * (1 - terminated). A truncated episode keeps its gamma: the
            state after a time limit still has value.
        next_q: float [C, B], of the target critics at the smoothed action.
    """
    return reward + discount * next_q.amin(0)


def critic_loss(q: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """sum_c E[w (Q_c(s, a) - y)^2], 0-dim.

    Args:
        q: float [C, B]. target, weight: float [B].
    """
    return (weight * (q - target).square()).mean(1).sum()


def actor_loss(q: Tensor) -> Tensor:
    """-E[Q_1(s, pi(s))], 0-dim: the deterministic policy gradient, by only the first critic.

    Args:
        q: float [C, B], of one critic or more at the policy's own action, differentiable.
    """
    return -q[0].mean()
