"""What TRPO refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_trpo.config import TRPOConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: TRPOConfig, plan: Plan) -> None:
    """Refuse to move the policy by an optimiser that has no trust region: TRPO has no step size.

    Raises:
        PlanError: if it reports none.
    """
    chosen = plan.optimiser
    if "trust_region" not in chosen.component.reports:
        raise PlanError(
            f"{plan.algorithm.title}: its policy moves within a trust region and has no step size, "
            f"which {chosen.title} would need. Leave --optimiser out, or use --algo ppo2; "
            f"--set vf_optimiser={chosen.name} moves the value by it."
        )
