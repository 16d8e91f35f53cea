"""What ACER refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_acer.config import ACERConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: ACERConfig, plan: Plan) -> None:
    """Refuse an optimiser that searches along a line: what ACER's loss is tells it nothing.

    The loss has the gradient of an update and not its gain: targets, importance weights and the
    projection into the trust region are computed within it, from the parameters as they are then.

    Raises:
        PlanError: if the optimiser reports a line search.
    """
    chosen = plan.optimiser
    if "line_search" in chosen.component.reports:
        raise PlanError(
            f"{plan.algorithm.title}: {chosen.title} searches along a line for a smaller loss, and "
            "ACER's loss is only good for its gradient: its targets and importance weights move "
            "with the parameters. Leave --optimiser out, for rmsprop, or say --optimiser adam."
        )
