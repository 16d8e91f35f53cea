"""Refuses options of a parameter group that the chosen optimiser ignores. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def refuse_unread_epsilon(plan: Plan, name: str) -> None:
    """Refuse a value of the group's option `eps` that the optimiser does not read.

    Optimisers that report `natural_gradient` divide by no root of a mean square, and ignore it.

    Args:
        plan: of the run. name: what the algorithm calls this setting.

    Raises:
        PlanError: if it is ignored and was changed.
    """
    algorithm, optimiser = plan.algorithm, plan.optimiser
    if "natural_gradient" in optimiser.component.reports and algorithm.changed(name):
        value = getattr(algorithm.config, name)
        raise PlanError(
            f"{algorithm.title}: {name}={value!r} is for optimisers such as Adam and RMSProp, and "
            f"{optimiser.title} would ignore it. Leave {name} out, or use --optimiser adam."
        )


def refuse_unread_max_grad_norm(plan: Plan) -> None:
    """Refuse a `max_grad_norm` for an optimiser that clips no gradient.

    Optimisers that report `line_search` choose the length of a step themselves. A norm of None is
    in line with that.

    Raises:
        PlanError: if it is ignored and was changed.
    """
    algorithm, optimiser = plan.algorithm, plan.optimiser
    value = algorithm.config.max_grad_norm
    if value is None or "line_search" not in optimiser.component.reports:
        return
    if algorithm.changed("max_grad_norm"):
        raise PlanError(
            f"{algorithm.title}: max_grad_norm={value!r} clips gradients, and {optimiser.title} "
            "would ignore it: it searches for the length of a step. Leave max_grad_norm out, or "
            "use --optimiser adam."
        )
