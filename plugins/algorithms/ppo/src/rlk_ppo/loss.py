"""PPO's estimate of the divergence, as in Stable-Baselines3 (`rlk_on_policy.clipped_loss`)."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[(r - 1) - log r] with r = pi(a|s) / pi_old(a|s), 0-dim, at least 0.

    An unbiased estimate of KL(pi_old || pi) from actions of pi_old, with less variance than
    the mean of -log r: Schulman, http://joschu.net/blog/kl-approx.html.
    """
    log_ratio = log_prob - old_log_prob
    return (log_ratio.exp() - 1.0 - log_ratio).mean()
