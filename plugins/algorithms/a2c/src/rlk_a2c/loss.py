"""The A2C loss: Mnih et al. 2016, arXiv 1602.01783, section 4, as in Stable Baselines 2.10.

Shapes: B transitions.
"""

from __future__ import annotations

from torch import Tensor


def policy_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """-E[log pi(a|s) A], 0-dim, for float [B]; the advantage is a constant."""
    return -(log_prob * advantage).mean()


def value_loss(value: Tensor, return_: Tensor) -> Tensor:
    """E[(V - R)^2], 0-dim, for float [B]."""
    return (value - return_).square().mean()
