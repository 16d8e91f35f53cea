"""What ACKTR refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_acktr.config import ACKTRConfig
from rlk_on_policy.checks import refuse_single_transitions, refuse_unread_max_grad_norm

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: ACKTRConfig, plan: Plan) -> None:
    """Refuse collections of a single Box action, whose advantage cannot be normalised.

    Raises:
        PlanError: for such a collection, or if the optimiser ignores `max_grad_norm`.
    """
    refuse_unread_max_grad_norm(plan)
    if type(plan.action_space).__name__ == "Box":
        told = "Use --set n_steps=2 or more."
        refuse_single_transitions(config.n_steps * plan.n_envs, 1, plan.algorithm.title, told)
