"""What A2C refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_a2c.config import A2CConfig
from rlk_on_policy.checks import (
    refuse_single_transitions,
    refuse_unread_epsilon,
    refuse_unread_max_grad_norm,
)

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: A2CConfig, plan: Plan) -> None:
    """Refuse collections of a single transition, whose advantage cannot be normalised.

    Raises:
        PlanError: for such a collection, if advantages are normalised, or if the optimiser ignores
            `epsilon` or `max_grad_norm`.
    """
    refuse_unread_epsilon(plan, "epsilon")
    refuse_unread_max_grad_norm(plan)
    if config.normalize_advantage:
        told = "Use --set n_steps=2 or more, or normalize_advantage=false."
        refuse_single_transitions(config.n_steps * plan.n_envs, 1, plan.algorithm.title, told)
