"""How many minibatches `batch_size` makes of a collection, and which it cannot make."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_on_policy.minibatch_sizes import two_in_each
from rlk_on_policy.sequence_sizes import sequence_length
from rlk_ppo.config import PPOConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

TITLE = "algorithm 'ppo' (rlk-ppo)"


def check(config: PPOConfig, plan: Plan) -> None:
    """PlanError for a `batch_size` that no collection of this plan gives."""
    minibatches_per_epoch(config, plan.n_envs)
    if plan.policy.component.recurrent:
        sequence_length(config.batch_size, config.n_steps, plan.n_envs, TITLE)


def minibatches_per_epoch(config: PPOConfig, n_envs: int) -> int:
    """As few as there can be without one that has more than `batch_size` transitions.

    Raises:
        PlanError: if a collection has fewer transitions than that, or if a minibatch would have a
            single one whose advantage is to be normalised.
    """
    transitions = config.n_steps * n_envs
    if config.batch_size > transitions:
        raise PlanError(
            f"{TITLE}: a collection of n_steps={config.n_steps} of {n_envs} environments has "
            f"{transitions} transitions, and batch_size={config.batch_size} asks for more. Say "
            f"--set batch_size={transitions} or less, or a larger n_steps."
        )
    count = math.ceil(transitions / config.batch_size)
    if config.normalize_advantage:
        told = "Say a larger batch_size, or --set normalize_advantage=false."
        two_in_each(transitions, count, TITLE, told)
    return count
