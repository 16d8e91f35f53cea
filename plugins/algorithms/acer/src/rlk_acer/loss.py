"""The formulas of ACER: Wang et al. 2017, arXiv 1611.01224; Retrace: Munos et al. 2016, 1606.02647.

Shapes: T steps, N environments, B transitions, A actions. pi is the policy, mu the one that acted,
rho = pi / mu. Everything here is a constant for the network's gradient, except the `q` of
`q_loss`; the policy's own gradient is written out, because the trust region changes it.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def retrace(
    reward: Tensor,
    discount: Tensor,
    next_value: Tensor,
    ended: Tensor,
    q: Tensor,
    ratio: Tensor,
) -> Tensor:
    """The target of Q(s, a) for the actions taken, float [T, N]; eq. 5.

        Q_ret_t = r_t + gamma (V_{t+1} + min(1, rho_{t+1}) (Q_ret_{t+1} - Q_{t+1}))

    A trace, the part with min(1, rho), ends with its episode, and with the sequence.

    Args:
        reward: float [T, N].
        discount: float [T, N], gamma * (1 - terminated). A truncated episode keeps its gamma.
        next_value: float [T, N], V of the observation that each step led to: for a truncated
            episode's last step, its final observation.
        ended: bool [T, N], where an episode ended, by either flag.
        q, ratio: float [T, N], Q and rho of the actions taken.
    """
    one_step = reward + discount * next_value
    trace = discount[:-1] * ~ended[:-1] * ratio[1:].clamp(max=1.0)
    q_ret = [one_step[-1]]
    for t in reversed(range(len(trace))):
        q_ret.append(one_step[t] + trace[t] * (q_ret[-1] - q[t + 1]))
    return torch.stack(q_ret[::-1])


@torch.no_grad()
def state_value(pi: Tensor, q: Tensor) -> Tensor:
    """V = sum_a pi(a) Q(a), float [B], for float [B, A]."""
    return (pi * q).sum(-1)


@torch.no_grad()
def importance_ratio(log_pi: Tensor, behaviour: Tensor) -> Tensor:
    """rho = pi / mu, float [B, A].

    Args:
        log_pi: float [B, A]. behaviour: float [B, A], logits of mu.
    """
    return (log_pi - torch.log_softmax(behaviour, -1)).exp()


@torch.no_grad()
def log_prob_weights(
    log_pi: Tensor, ratio: Tensor, action: Tensor, q_ret: Tensor, q: Tensor, correction_term: float
) -> Tensor:
    """w, such that the policy's gradient is sum_a w_a grad log pi(a), float [B, A]; eq. 9.

        min(c, rho(a_t)) (Q_ret - V)                     for the action that was taken, and
        max(0, 1 - c / rho(a)) pi(a) (Q(a) - V)          for all, which makes up for the truncation

    Args:
        log_pi, ratio, q: float [B, A]; the ratio is rho, and V the mean of q under pi.
        action: int64 [B]. q_ret: float [B].
        correction_term: c, above 0.
    """
    pi = log_pi.exp()
    value = state_value(pi, q).unsqueeze(-1)
    correction = (1.0 - correction_term / ratio).clamp(min=0.0) * pi * (q - value)
    taken = action.unsqueeze(-1)
    truncated = ratio.gather(-1, taken).clamp(max=correction_term)
    return correction.scatter_add(-1, taken, truncated * (q_ret.unsqueeze(-1) - value))


@torch.no_grad()
def policy_loss(log_pi: Tensor, weight: Tensor) -> Tensor:
    """-E[sum_a w_a log pi(a)], 0-dim, for float [B, A]."""
    return -(weight * log_pi).sum(-1).mean()


@torch.no_grad()
def entropy(log_pi: Tensor) -> Tensor:
    """-sum_a pi(a) log pi(a), in nats, float [B], for float [B, A]."""
    return -(log_pi.exp() * log_pi).sum(-1)


@torch.no_grad()
def gain_gradient(log_pi: Tensor, weight: Tensor, ent_coef: float) -> Tensor:
    """The gradient of sum_a w_a log pi(a) + ent_coef * entropy w.r.t. the logits, float [B, A]."""
    pi = log_pi.exp()
    information = log_pi + entropy(log_pi).unsqueeze(-1)
    return weight - pi * weight.sum(-1, keepdim=True) - ent_coef * pi * information


@torch.no_grad()
def kl_gradient(average: Tensor, log_pi: Tensor) -> Tensor:
    """The gradient of KL(average || pi) w.r.t. the logits of pi, pi - average, float [B, A].

    Args:
        average: float [B, A], logits of the average policy.
    """
    return log_pi.exp() - torch.softmax(average, -1)


@torch.no_grad()
def within_trust_region(gradient: Tensor, kl_gradient: Tensor, delta: float) -> Tensor:
    """z, the vector nearest to the gradient g with k z <= delta, float [B, A]; eq. 12.

        z = g - max(0, (k g - delta) / |k|^2) k

    Args:
        gradient, kl_gradient: float [B, A], g and k.
    """
    excess = (kl_gradient * gradient).sum(-1, keepdim=True) - delta
    square = kl_gradient.square().sum(-1, keepdim=True)
    return gradient - (excess / square.clamp(min=1e-12)).clamp(min=0.0) * kl_gradient


def of_action(values: Tensor, action: Tensor) -> Tensor:
    """The values of the actions taken, float [B], from those of all actions, float [B, A]."""
    return values.gather(-1, action.unsqueeze(-1)).squeeze(-1)


def q_loss(q: Tensor, q_ret: Tensor) -> Tensor:
    """E[(Q - Q_ret)^2] / 2, 0-dim, for float [B]."""
    return 0.5 * (q - q_ret).square().mean()
