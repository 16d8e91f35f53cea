"""The loss of values that are neither clipped nor halved."""

from __future__ import annotations

from torch import Tensor


def squared_error(value: Tensor, return_: Tensor) -> Tensor:
    """E[(V - R)^2], 0-dim, for float [B]."""
    return (value - return_).square().mean()
