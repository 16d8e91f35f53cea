"""The losses of ACKTR.

Shapes: B transitions.
"""

from __future__ import annotations

from torch import Tensor


def policy_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """-E[log pi(a|s) A], 0-dim, for float [B]."""
    return -(log_prob * advantage).mean()


def value_loss(value: Tensor, return_: Tensor) -> Tensor:
    """E[(V - R)^2], 0-dim, for float [B]."""
    return (value - return_).square().mean()
