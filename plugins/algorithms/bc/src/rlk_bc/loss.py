"""Losses of behaviour cloning: Pomerleau 1991 (doi:10.1162/neco.1991.3.1.88), as in Stable
Baselines 2.10.

Shapes: B transitions, D action dimensions, A discrete actions, P a distribution's parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gymnasium import Space, spaces
from torch import Tensor
from torch.nn import functional

from rlk_networks import Distribution, own_action


def loss_of_actions(
    distribution: Distribution, space: Space[Any]
) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss of a stochastic policy: for a Box `mode_loss`, else `likelihood_loss`.

    Errors of the mode are in the policy's own units of actions.
    """
    if isinstance(space, spaces.Box):
        return lambda parameters, action: mode_loss(
            distribution.mode(parameters), own_action(distribution, action)
        )
    return lambda parameters, action: likelihood_loss(distribution.log_prob(parameters, action))


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
