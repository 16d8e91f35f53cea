"""PPO's parts of the loss that `rlk_on_policy.clipped_loss` has, as in Stable-Baselines3.

Schulman et al. 2017, arXiv 1707.06347, eq. 9; OpenAI's clipped values. Shapes: B transitions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rlk_on_policy.loss_terms import clipped_value, squared_error


def clipped_value_loss(
    value: Tensor, old_value: Tensor, return_: Tensor, clip_range: Tensor
) -> Tensor:
    """E[(V_clip - R)^2], with V_clip of `clipped_value`, 0-dim: without PPO2's maximum."""
    return squared_error(clipped_value(value, old_value, clip_range), return_)


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[(r - 1) - log r] with r = pi(a|s) / pi_old(a|s), 0-dim, at least 0.

    An unbiased estimate of KL(pi_old || pi) from actions of pi_old, with less variance than
    the mean of -log r: Schulman, http://joschu.net/blog/kl-approx.html.
    """
    log_ratio = log_prob - old_log_prob
    return (log_ratio.exp() - 1.0 - log_ratio).mean()
