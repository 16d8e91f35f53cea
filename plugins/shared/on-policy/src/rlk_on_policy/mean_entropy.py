"""The mean entropy of a policy, which a loss rewards."""

from __future__ import annotations

from torch import Tensor

from rlk_networks import Distribution


def mean_entropy(distribution: Distribution, parameters: Tensor, coef: float) -> Tensor:
    """E[H], 0-dim, in nats.

    Without a gradient if its weight in the loss, `coef`, is 0: to compute one that is multiplied
    by 0 takes 3 % of the time of PPO.

    Args:
        parameters: of the distribution, float [B, P].
    """
    return distribution.entropy(parameters if coef else parameters.detach()).mean()
