"""What SAC refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_sac.config import SACConfig, entropy_coefficient

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: SACConfig, plan: Plan) -> None:
    """PlanError for actions that are not squashed, and for settings that would have no effect."""
    title = plan.algorithm.title
    if getattr(plan.distribution and plan.distribution.config, "squash_output", True) is False:
        raise PlanError(
            f"{title} learns values of actions in -1 to 1, and squash_output=false leaves them "
            "unbounded. Use --set gsde.squash_output=true, or leave it out."
        )
    if config.use_sde_at_warmup and not config.use_sde:
        raise PlanError(
            f"{title}: use_sde_at_warmup=true has no effect without use_sde. Use --set "
            "use_sde=true, or leave it out."
        )
    learnt, _ = entropy_coefficient(config.ent_coef)
    if config.target_entropy != "auto" and not learnt:
        raise PlanError(
            f"{title}: target_entropy={config.target_entropy!r} is what ent_coef is learnt for, "
            f"and ent_coef={config.ent_coef!r} is fixed. Use --set ent_coef=auto, or leave one of "
            "them out."
        )
