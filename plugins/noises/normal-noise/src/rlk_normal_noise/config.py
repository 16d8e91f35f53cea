"""Settings of Gaussian action noise, with the names of Stable Baselines' NormalActionNoise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rlk.settings import documented, finite, setting
from rlk_action_scaling.validators import not_negative

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


@documented
@attrs.frozen(kw_only=True)
class NormalNoiseConfig:
    """Mean and spread, for actions in -1 to 1."""

    mean: float | list[float] = attrs.field(
        default=0.0, **setting("mean of the noise; a number, or one per action dimension", finite)
    )
    sigma: float | list[float] = attrs.field(
        default=0.1,
        **setting(
            "its standard deviation; a number, or one per action dimension", [not_negative, finite]
        ),
    )


def check(config: NormalNoiseConfig, plan: Plan) -> None:
    """Refuse an action space that the settings do not fit, before anything is built.

    Raises:
        PlanError: for another number of values than an action has, or an infinite bound.
    """
    from rlk_normal_noise.noise import fitted  # not at the top: it needs gymnasium

    if type(plan.action_space).__name__ == "Box":
        fitted(plan.action_space, config)
