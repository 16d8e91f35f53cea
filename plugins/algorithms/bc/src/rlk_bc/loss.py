"""Losses of behaviour cloning: Pomerleau 1991 (doi:10.1162/neco.1991.3.1.88), as in Stable
Baselines 2.10.

Shapes: B transitions, D action dimensions, A discrete actions.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def likelihood_loss(log_prob: Tensor) -> Tensor:
    """-E[log pi(a|s)], 0-dim, for float [B]: the cross entropy for Discrete actions."""
    return -log_prob.mean()


def value_loss(values: Tensor, action: Tensor) -> Tensor:
    """Cross entropy of the softmax of action values, 0-dim.

    Args:
        values: float [B, A]. action: int [B].
    """
    return functional.cross_entropy(values, action)


def mode_loss(mode: Tensor, action: Tensor) -> Tensor:
    """E[(mode - a)^2] over transitions and dimensions, 0-dim, for float [B, D]."""
    return (mode - action).square().mean()
