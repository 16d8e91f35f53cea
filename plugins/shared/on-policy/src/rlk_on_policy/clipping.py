"""PPO's clipped objective: Schulman et al. 2017, arXiv 1707.06347, eq. 7; OpenAI's clipped values.

Shapes: B transitions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def clipped_policy_loss(ratio: Tensor, advantage: Tensor, clip_range: Tensor) -> Tensor:
    """-E[min(ratio * A, clip(ratio, 1 - eps, 1 + eps) * A)], 0-dim.

    Args:
        ratio: float [B], pi(a|s) / pi_old(a|s). advantage: float [B]. clip_range: 0-dim, eps.
    """
    clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


@torch.no_grad()
def clip_fraction(ratio: Tensor, clip_range: Tensor) -> Tensor:
    """The fraction of the batch whose ratio is outside the clip range, 0-dim."""
    return ((ratio - 1.0).abs() > clip_range).to(torch.float32).mean()


def clipped_value(value: Tensor, old_value: Tensor, clip_range: Tensor) -> Tensor:
    """V_old + clip(V - V_old, -eps, eps), float [B].

    Not in the paper: from OpenAI's code. Where a value is clipped it has no gradient. It depends on
    the scale of returns.
    """
    return old_value + (value - old_value).clamp(-clip_range, clip_range)
