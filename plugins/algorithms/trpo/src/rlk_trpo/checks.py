"""What TRPO refuses while a run is planned. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_on_policy.checks import refuse_single_transitions
from rlk_trpo.config import TRPOConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: TRPOConfig, plan: Plan) -> None:
    """Refuse an optimiser of the policy without a trust region, because TRPO has no step size.

    Raises:
        PlanError: if it does not report one, or if a collection has a single transition.
    """
    chosen = plan.optimiser
    if "trust_region" not in chosen.component.reports:
        raise PlanError(
            f"{plan.algorithm.title}: its policy moves within a trust region and has no step size, "
            f"which {chosen.title} would need. Leave --optimiser out, or use --algo ppo2; "
            f"--set vf_optimiser={chosen.name} moves the value by it."
        )
    transitions = math.ceil(config.timesteps_per_batch / plan.n_envs) * plan.n_envs
    refuse_single_transitions(
        transitions, 1, plan.algorithm.title, "Use --set timesteps_per_batch=2 or more."
    )
