"""PPO's loss of policy, value and entropy: Schulman et al. 2017, arXiv 1707.06347, eq. 9.

Shapes: B transitions, P a distribution's flat parameters.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from rlk.records import Loss
from rlk_networks import Distribution
from rlk_on_policy.loss_terms import clip_fraction, clipped_policy_loss, mean_entropy
from rlk_on_policy.minibatches import Minibatch


def clipped_loss(
    distribution: Distribution,
    parameters: Tensor,
    value: Tensor,
    batch: Minibatch,
    advantage: Tensor,
    *,
    clip_range: Tensor,
    value_loss: Tensor,
    approximate_kl: Callable[[Tensor, Tensor], Tensor],
    vf_coef: float,
    ent_coef: float,
) -> Loss:
    """L_pi + vf_coef L_V - ent_coef E[H], for a network that is one group.

    The versions of PPO differ in their loss of the value and in their estimate of the divergence.

    Args:
        distribution: of the actions. parameters: float [B, P].
        value: float [B, 1].
        batch: the actions, with their log-probabilities when they were chosen.
        advantage: float [B], normalised or not.
        clip_range: 0-dim, eps.
        value_loss: 0-dim, L_V of `value`.
        approximate_kl: of log-probabilities now and then, each float [B]: 0-dim, to be logged.
        vf_coef, ent_coef: the weights of the value's loss and of the entropy.
    """
    log_prob = distribution.log_prob(parameters, batch.action)
    ratio = (log_prob - batch.log_prob).exp()
    of_policy = clipped_policy_loss(ratio, advantage, clip_range)
    entropy = mean_entropy(distribution, parameters, ent_coef, log_prob)
    total = of_policy + vf_coef * value_loss - ent_coef * entropy
    metrics = {
        "loss": total,
        "policy_gradient_loss": of_policy,
        "value_loss": value_loss,
        "entropy_loss": -entropy,
        "approx_kl": approximate_kl(log_prob, batch.log_prob),
        "clip_fraction": clip_fraction(ratio, clip_range),
    }
    return Loss(total, distribution=parameters, prediction=value[:, 0], metrics=metrics)
