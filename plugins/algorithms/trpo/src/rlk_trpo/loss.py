"""TRPO's objective: Schulman et al. 2015, arXiv 1502.05477, eq. 14.

Shapes: B transitions.
"""

from __future__ import annotations

from torch import Tensor


def surrogate(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor) -> Tensor:
    """E[pi(a|s) / pi_old(a|s) * A], 0-dim, for float [B]: the gain of the new policy."""
    return ((log_prob - old_log_prob).exp() * advantage).mean()
