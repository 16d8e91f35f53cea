"""What planning refuses. It imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from acme_kl_penalty.config import KLPenaltyPPOConfig
    from rlk.planning.plan import Plan


def check(config: KLPenaltyPPOConfig, plan: Plan) -> None:
    """Refuse more minibatches than a collection has transitions: some would be empty."""
    collected = config.n_steps * plan.n_envs
    if config.n_minibatches > collected:
        raise PlanError(
            f"{plan.algorithm.title}: a collection of {collected} transitions cannot be cut into "
            f"{config.n_minibatches} minibatches. Use --set n_minibatches={collected} or fewer."
        )
