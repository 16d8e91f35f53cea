"""Losses and rewards of adversarial imitation, as functions of a discriminator's logits.

D = sigmoid(logit) is the probability that a transition is the expert's. Shapes: B transitions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def discriminator_loss(policy: Tensor, expert: Tensor, entropy_coefficient: float) -> Tensor:
    """-E_policy[log(1 - D)] - E_expert[log D] - c H(D), 0-dim.

    Ho and Ermon 2016, arXiv 1606.03476, eq. 17, with the expert as 1, and the bonus of Stable
    Baselines 2.10 for H, the mean entropy of the discriminator's output over all transitions.

    Args:
        policy: logits [B] of the policy's transitions. expert: logits [B] of the expert's.
        entropy_coefficient: c, at least 0.
    """
    wrong = functional.softplus(policy).mean()
    missed = functional.softplus(-expert).mean()
    return wrong + missed - entropy_coefficient * entropy(torch.cat((policy, expert))).mean()


def entropy(logit: Tensor) -> Tensor:
    """The entropy of a Bernoulli distribution with probability D = sigmoid(logit), in nats, [B]."""
    return functional.softplus(logit) - torch.sigmoid(logit) * logit


def gail_reward(logit: Tensor) -> Tensor:
    """-log(1 - D), [B]: positive, and larger the more a transition looks like the expert's."""
    return functional.softplus(logit)


def airl_logit(f: Tensor, log_prob: Tensor) -> Tensor:
    """log D - log(1 - D) = f(s, a, s') - log pi(a|s), [B]: Fu et al. 2018, arXiv 1710.11248, eq. 4.

    It is the policy's reward too.
    """
    return f - log_prob


def shaped(g: Tensor, h: Tensor, next_h: Tensor, discount: Tensor) -> Tensor:
    """f = g(s, a) + gamma h(s') - h(s), [B]: the reward and its shaping (the same, eq. 4).

    Args:
        discount: gamma, but 0 if the episode terminated.
    """
    return g + discount * next_h - h
