"""Which numbers of minibatches a collection can be divided into. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_on_policy.sequence_sizes import whole_environments
from rlk_ppo2.config import PPO2Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

TITLE = "algorithm 'ppo2' (rlk-ppo2)"


def check(config: PPO2Config, plan: Plan) -> None:
    """PlanError for more minibatches than transitions; for a recurrent policy, for uneven ones."""
    transitions = config.n_steps * plan.n_envs
    if config.nminibatches > transitions:
        raise PlanError(
            f"{TITLE}: a collection of n_steps={config.n_steps} of {plan.n_envs} environments "
            f"cannot be divided into nminibatches={config.nminibatches}. Set at most {transitions}."
        )
    if plan.policy.component.recurrent:
        whole_environments(config.nminibatches, plan.n_envs, TITLE, "nminibatches")
