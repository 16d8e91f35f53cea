"""Which numbers of minibatches a collection can be divided into. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk_on_policy.minibatch_sizes import two_in_each
from rlk_on_policy.sequence_sizes import whole_environments
from rlk_ppo2.config import PPO2Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

TITLE = "algorithm 'ppo2' (rlk-ppo2)"


def check(config: PPO2Config, plan: Plan) -> None:
    """PlanError for too many minibatches; for a recurrent policy, for uneven ones."""
    enough = math.ceil(2 * config.nminibatches / plan.n_envs)
    two_in_each(
        config.n_steps * plan.n_envs,
        config.nminibatches,
        TITLE,
        f"Say --set n_steps={enough} or more, or a smaller nminibatches.",
    )
    if plan.policy.component.recurrent:
        whole_environments(config.nminibatches, plan.n_envs, TITLE, "nminibatches")
