"""PPO2's parts of the loss that `rlk_on_policy.clipped_loss` has.

Schulman et al. 2017, arXiv 1707.06347, eq. 9; OpenAI's clipped value loss. Shapes: B transitions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rlk_on_policy.loss_terms import clipped_value, squared_error


def value_loss(value: Tensor, return_: Tensor) -> Tensor:
    """E[(V - R)^2] / 2, 0-dim, for float [B]."""
    return 0.5 * squared_error(value, return_)


def clipped_value_loss(
    value: Tensor, old_value: Tensor, return_: Tensor, clip_range: Tensor
) -> Tensor:
    """E[max((V - R)^2, (V_clip - R)^2)] / 2, with V_clip of `clipped_value`, 0-dim.

    Not in the paper: from OpenAI's code. It depends on the scale of returns.
    """
    clipped = clipped_value(value, old_value, clip_range)
    errors = torch.maximum((value - return_).square(), (clipped - return_).square())
    return 0.5 * errors.mean()


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[(log pi - log pi_old)^2] / 2, 0-dim: the estimate that Stable Baselines logs."""
    return 0.5 * (log_prob - old_log_prob).square().mean()
