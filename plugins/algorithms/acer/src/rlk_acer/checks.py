"""What ACER refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_acer.config import ACERConfig
from rlk_on_policy.checks import refuse_unread_epsilon

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


#: Settings that have an effect only with a trust region.
_OF_TRUST_REGION = ("alpha", "delta")


def check(config: ACERConfig, plan: Plan) -> None:
    """Refuse settings without effect, and an optimiser that needs the values of losses.

    A line search compares losses, but this loss has only the gradient of an update, not its gain:
    targets, importance weights and the projection into the trust region are computed inside it,
    from the current parameters.

    Raises:
        PlanError: if the optimiser reports a line search, or a setting of the trust region or of
            the replay was changed although there is none, or an epsilon is ignored.
    """
    for name in () if config.trust_region else plan.algorithm.changed(*_OF_TRUST_REGION):
        raise PlanError(
            f"{plan.algorithm.title}: {name}={getattr(config, name)!r} has no effect without "
            "trust_region. Use --set trust_region=true, or leave it out."
        )
    if not config.replay_ratio and plan.algorithm.changed("replay_start"):
        raise PlanError(
            f"{plan.algorithm.title}: replay_start={config.replay_start} has no effect without "
            "replay. Use --set replay_ratio=4, or another number above 0, or leave it out."
        )
    refuse_unread_epsilon(plan, "rprop_epsilon")
    chosen = plan.optimiser
    if "line_search" in chosen.component.reports:
        raise PlanError(
            f"{plan.algorithm.title}: {chosen.title} searches along a line for a smaller loss, and "
            "ACER's loss is only good for its gradient: its targets and importance weights move "
            "with the parameters. Leave --optimiser out, for rmsprop, or use --optimiser adam."
        )
