"""What PPO1 refuses while a run is planned. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_on_policy.checks import refuse_single_transitions, refuse_unread_epsilon
from rlk_ppo1.config import PPO1Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: PPO1Config, plan: Plan) -> None:
    """Refuse an `optim_batchsize` that is larger than a collection of this plan.

    Raises:
        PlanError: if a collection is smaller than one minibatch, or has a single transition, or
            the optimiser ignores `adam_epsilon`.
    """
    refuse_unread_epsilon(plan, "adam_epsilon")
    steps, batch_size = config.timesteps_per_actorbatch, config.optim_batchsize
    transitions = steps * plan.n_envs
    if batch_size > transitions:
        raise PlanError(
            f"{plan.algorithm.title}: a collection of timesteps_per_actorbatch={steps} with "
            f"n_envs={plan.n_envs} has {transitions} transitions, fewer than a minibatch of "
            f"optim_batchsize={batch_size}. Use --set optim_batchsize={transitions} or less, or "
            f"--set timesteps_per_actorbatch={math.ceil(batch_size / plan.n_envs)} or more."
        )
    told = "Use --set timesteps_per_actorbatch=2 or more."
    refuse_single_transitions(transitions, 1, plan.algorithm.title, told)
