"""The terms that losses of on-policy algorithms are made of.

Shapes: B transitions, P a distribution's flat parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rlk_networks import Distribution


def clipped_policy_loss(ratio: Tensor, advantage: Tensor, clip_range: Tensor) -> Tensor:
    """-E[min(ratio * A, clip(ratio, 1 - eps, 1 + eps) * A)], 0-dim.

    PPO's clipped objective: Schulman et al. 2017, arXiv 1707.06347, eq. 7.

    Args:
        ratio: float [B], pi(a|s) / pi_old(a|s). advantage: float [B]. clip_range: 0-dim, eps.
    """
    clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


@torch.no_grad()
def clip_fraction(ratio: Tensor, clip_range: Tensor) -> Tensor:
    """The fraction of the batch whose ratio is outside the clip range, 0-dim."""
    return ((ratio - 1.0).abs() > clip_range).to(torch.float32).mean()


def clipped_value(value: Tensor, old_value: Tensor, clip_range: Tensor) -> Tensor:
    """V_old + clip(V - V_old, -eps, eps), float [B].

    Not in the paper: from OpenAI's code. Where a value is clipped it has no gradient. It depends on
    the scale of returns.
    """
    return old_value + (value - old_value).clamp(-clip_range, clip_range)


def squared_error(value: Tensor, return_: Tensor) -> Tensor:
    """E[(V - R)^2], 0-dim, for float [B]: neither clipped nor halved."""
    return (value - return_).square().mean()


def mean_entropy(
    distribution: Distribution, parameters: Tensor, coef: float, log_prob: Tensor | None = None
) -> Tensor:
    """E[H], 0-dim, in nats: the entropy of a policy, which a loss rewards.

    Without a gradient if its weight in the loss, `coef`, is 0, and it is only logged. A gradient
    that is multiplied by 0 would take 3 % of the time of A2C and 5 % of that of PPO2.

    Args:
        parameters: of the distribution, float [B, P].
        log_prob: of the batch's actions, float [B]. With it, the entropy of a distribution that has
            no formula for it is estimated.

    Raises:
        NotImplementedError: if the distribution has no formula, and there is no `log_prob`.
    """
    try:
        return distribution.entropy(parameters if coef else parameters.detach()).mean()
    except NotImplementedError as error:
        if log_prob is None:
            raise NotImplementedError(
                f"distribution {type(distribution).__name__} has no formula of its entropy: give "
                "mean_entropy the log_prob of the batch's actions, from which it is estimated"
            ) from error
    return estimated_entropy(log_prob if coef else log_prob.detach())


def estimated_entropy(log_prob: Tensor) -> Tensor:
    """-E[log pi(a)] over actions drawn from the policy, 0-dim, in nats.

    Its gradient is the score-function estimate -E[(1 + log pi) grad log pi]. Stable-Baselines3
    differentiates the same mean directly, and that gradient is 0 on average. As there, the actions
    of later epochs are those of the policy that collected them.

    Args:
        log_prob: float [B].
    """
    score = (log_prob - log_prob.detach()).exp()  # 1, with the gradient of log pi
    return -(score * log_prob).mean()


def normalised(advantage: Tensor, mean: Callable[[Tensor], Tensor]) -> Tensor:
    """(A - E[A]) / (std[A] + 1e-8), float [B], with the moments of the batches of all ranks.

    Args:
        advantage: float [B], of this rank.
        mean: the mean of a tensor over ranks (`run.communicator.mean`).
    """
    centred = advantage - mean(advantage.mean())
    return centred / (mean(centred.square().mean()).sqrt() + 1e-8)
