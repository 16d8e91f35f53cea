"""The model of a loss as one distribution: of actions, and of predictions.

Shapes: B transitions, P a distribution's flat parameters.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rlk.errors import RlkError
from rlk.records import Loss
from rlk_natural_gradient.fisher import Divergence


def joint(loss: Loss) -> Tensor:
    """float [..., P], or [..., P + 1] with the prediction last.

    Raises:
        RlkError: if the loss has no action distribution.
    """
    if loss.distribution is None:
        raise RlkError(
            "optimiser 'natural-gradient' (rlk-natural-gradient): the loss returns no action "
            "distribution. Return Loss(value, distribution=parameters)."
        )
    if loss.prediction is None:
        return loss.distribution
    return torch.cat([loss.distribution, loss.prediction.unsqueeze(-1)], -1)


def joint_divergence(loss: Loss, kl: Divergence) -> Divergence:
    """The divergence of two such distributions, float [...].

    It is that of the actions, plus (V - V')^2 / 2, that of Gaussians of variance 1 around the
    predictions.
    """
    if loss.prediction is None:
        return kl

    def divergence(p: Tensor, q: Tensor) -> Tensor:
        return kl(p[..., :-1], q[..., :-1]) + 0.5 * (p[..., -1] - q[..., -1]).square()

    return divergence
