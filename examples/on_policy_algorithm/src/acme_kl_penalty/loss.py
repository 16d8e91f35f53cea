"""The formulas: Schulman et al. 2017, arXiv 1707.06347, section 4. B transitions."""

from __future__ import annotations

from torch import Tensor

#: The weight changes where the divergence is this much larger or smaller than its target.
TOLERANCE = 1.5


def penalised_loss(
    log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, kl: Tensor, coef: Tensor
) -> Tensor:
    """-E[pi(a|s) / pi_old(a|s) A - beta KL(pi_old || pi)], 0-dim (eq. 8, negated).

    Args:
        log_prob, old_log_prob, advantage, kl: float [B].
        coef: beta, 0-dim.
    """
    ratio = (log_prob - old_log_prob).exp()
    return -(ratio * advantage - coef * kl).mean()


def adapted(coef: float, kl: float, target: float) -> float:
    """Half of beta if the divergence was below target / 1.5, twice beta if above 1.5 target."""
    if kl < target / TOLERANCE:
        return coef / 2
    if kl > target * TOLERANCE:
        return coef * 2
    return coef
