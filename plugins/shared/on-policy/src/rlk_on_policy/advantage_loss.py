"""The loss of advantage actor-critics: Mnih et al. 2016, arXiv 1602.01783, section 4.

Shapes: B transitions.
"""

from __future__ import annotations

from torch import Tensor

from rlk.records import Loss
from rlk_networks import Distribution, Policy
from rlk_on_policy.loss_terms import mean_entropy, squared_error
from rlk_on_policy.minibatches import Minibatch


def policy_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """-E[log pi(a|s) A], 0-dim, for float [B]; the advantage is a constant."""
    return -(log_prob * advantage).mean()


def advantage_loss(
    policy: Policy, distribution: Distribution, batch: Minibatch, vf_coef: float, ent_coef: float
) -> Loss:
    """L_pi + vf_coef L_V - ent_coef E[H], for a network that is one group.

    The squared error of values is not halved, as in Stable Baselines 2.10.

    Args:
        policy: with heads `pi` and `vf`. distribution: of the actions.
        batch: observations and actions, with their advantages and returns.
        vf_coef, ent_coef: the weights of the value's loss and of the entropy.
    """
    parameters, values = batch.outputs(policy, "pi", "vf")
    value = values[:, 0]
    log_prob = distribution.log_prob(parameters, batch.action)
    of_policy = policy_loss(log_prob, batch.advantage)
    of_value = squared_error(value, batch.return_)
    entropy = mean_entropy(distribution, parameters, ent_coef, log_prob)
    total = of_policy + vf_coef * of_value - ent_coef * entropy
    metrics = {
        "loss": total,
        "policy_loss": of_policy,
        "value_loss": of_value,
        "entropy_loss": -entropy,
    }
    return Loss(total, distribution=parameters, prediction=value, metrics=metrics)
