"""The PPO loss of Stable-Baselines3, the clipped objective aside (`rlk_on_policy.clipping`).

Schulman et al. 2017, arXiv 1707.06347, eq. 9; the clipping of values is OpenAI's. Shapes:
B transitions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def clipped_value(value: Tensor, old_value: Tensor, clip_range: Tensor) -> Tensor:
    """V_old + clip(V - V_old, -eps, eps), float [B].

    Not in the paper: from OpenAI's code, without the maximum that is taken there. Where a value is
    clipped it has no gradient. It depends on the scale of returns.
    """
    change = torch.minimum(torch.maximum(value - old_value, -clip_range), clip_range)
    return old_value + change


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[(r - 1) - log r] with r = pi(a|s) / pi_old(a|s), 0-dim, at least 0.

    An estimate of KL(pi_old || pi) from actions of pi_old without bias, and of less variance than
    the mean of -log r: Schulman, http://joschu.net/blog/kl-approx.html.
    """
    log_ratio = log_prob - old_log_prob
    return (log_ratio.exp() - 1.0 - log_ratio).mean()
