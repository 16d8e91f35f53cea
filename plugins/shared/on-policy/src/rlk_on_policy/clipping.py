"""PPO's clipped objective: Schulman et al. 2017, arXiv 1707.06347, eq. 7. Shapes: B transitions."""

from __future__ import annotations

import torch
from torch import Tensor


def clipped_policy_loss(ratio: Tensor, advantage: Tensor, clip_range: Tensor) -> Tensor:
    """-E[min(ratio * A, clip(ratio, 1 - eps, 1 + eps) * A)], 0-dim.

    Args:
        ratio: float [B], pi(a|s) / pi_old(a|s). advantage: float [B]. clip_range: 0-dim, eps.
    """
    clipped = torch.minimum(torch.maximum(ratio, 1.0 - clip_range), 1.0 + clip_range)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


@torch.no_grad()
def clip_fraction(ratio: Tensor, clip_range: Tensor) -> Tensor:
    """The part of the batch whose ratio lies outside of the clipping range, 0-dim."""
    return ((ratio - 1.0).abs() > clip_range).to(torch.float32).mean()
