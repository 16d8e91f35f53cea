"""Refuses an epsilon of Adam or RMSProp that the chosen optimiser ignores. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def refuse_unread_epsilon(plan: Plan, name: str) -> None:
    """Refuse a value of the group's option `eps` that the optimiser does not read.

    Optimisers that report `natural_gradient` divide by no root of a mean square, and ignore it.

    Args:
        plan: of the run. name: what the algorithm calls this setting.

    Raises:
        PlanError: if it is ignored and differs from its default.
    """
    algorithm, optimiser = plan.algorithm, plan.optimiser
    value = getattr(algorithm.config, name)
    default = attrs.fields_dict(type(algorithm.config))[name].default
    if value != default and "natural_gradient" in optimiser.component.reports:
        raise PlanError(
            f"{algorithm.title}: {name}={value!r} is for optimisers such as Adam and RMSProp, and "
            f"{optimiser.title} would ignore it. Leave {name} out, or use --optimiser adam."
        )
