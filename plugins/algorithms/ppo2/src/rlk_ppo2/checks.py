"""What PPO2 refuses while a run is planned. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk_on_policy.checks import (
    refuse_single_transitions,
    refuse_uneven_minibatches,
    refuse_unread_max_grad_norm,
)
from rlk_ppo2.config import PPO2Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: PPO2Config, plan: Plan) -> None:
    """Refuse an `nminibatches` that a collection of this plan cannot be divided into.

    Raises:
        PlanError: if a minibatch would have a single transition, whose normalised advantage is
            always 0, if it does not divide a recurrent policy's environments evenly, or if the
            optimiser ignores `max_grad_norm`.
    """
    refuse_unread_max_grad_norm(plan)
    enough = math.ceil(2 * config.nminibatches / plan.n_envs)
    refuse_single_transitions(
        config.n_steps * plan.n_envs,
        config.nminibatches,
        plan.algorithm.title,
        f"Use --set n_steps={enough} or more, or a smaller nminibatches.",
    )
    if plan.policy.component.recurrent:
        refuse_uneven_minibatches(
            config.nminibatches, plan.n_envs, plan.algorithm.title, "nminibatches"
        )
