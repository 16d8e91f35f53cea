"""What PPO refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_on_policy.checks import (
    minibatches_per_epoch,
    refuse_single_transitions,
    refuse_unread_max_grad_norm,
    sequence_length,
)
from rlk_ppo.config import PPOConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: PPOConfig, plan: Plan) -> None:
    """Refuse a `batch_size` that does not fit a collection of this plan.

    Raises:
        PlanError: if a collection has fewer transitions, if a minibatch would have a single one
            whose advantage is normalised, if a recurrent policy's sequences cannot be cut to it,
            or if the optimiser ignores `max_grad_norm`.
    """
    refuse_unread_max_grad_norm(plan)
    title, n_envs = plan.algorithm.title, plan.n_envs
    transitions = config.n_steps * n_envs
    if config.batch_size > transitions:
        # A single transition would be refused next if its advantage is normalised.
        fits = transitions > 1 or not config.normalize_advantage
        smaller = f"--set batch_size={transitions} or less, or " if fits else ""
        raise PlanError(
            f"{title}: batch_size={config.batch_size} is more than the transitions of a "
            f"collection, n_steps={config.n_steps} x n_envs={n_envs} = {transitions}. Use "
            f"{smaller}a larger n_steps."
        )
    if config.normalize_advantage:
        larger = "n_steps" if transitions == 1 else "batch_size"
        told = f"Use a larger {larger}, or --set normalize_advantage=false."
        refuse_single_transitions(
            transitions, minibatches_per_epoch(transitions, config.batch_size), title, told
        )
    if plan.policy.component.recurrent:
        sequence_length(config.batch_size, config.n_steps, n_envs, title)
