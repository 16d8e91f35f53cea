"""Settings of the process, with the names of Stable Baselines' OrnsteinUhlenbeckActionNoise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from attrs import validators as v

from rlk.settings import above, at_least, documented, finite, setting
from rlk_action_scaling.validators import not_negative

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


@documented
@attrs.frozen(kw_only=True)
class OrnsteinUhlenbeckNoiseConfig:
    """Mean, scale and time constant of the process, in units of actions from -1 to 1."""

    mean: float | list[float] = attrs.field(
        default=0.0,
        **setting("the value to which it reverts; a number, or one per action dimension", finite),
    )
    sigma: float | list[float] = attrs.field(
        default=0.1,
        **setting(
            "scale of the noise; a number, or one per action dimension", [not_negative, finite]
        ),
    )
    theta: float = attrs.field(
        default=0.15, **setting("rate of reversion to the mean", [at_least(0.0), finite])
    )
    dt: float = attrs.field(default=0.01, **setting("duration of one step", [above(0.0), finite]))
    initial_noise: float | list[float] | None = attrs.field(
        default=None,
        **setting(
            "its value where an episode starts; a number, or one per action dimension; unset: 0",
            v.optional(finite),
        ),
    )


def check(config: OrnsteinUhlenbeckNoiseConfig, plan: Plan) -> None:
    """Refuse an action space that the settings do not fit, before anything is built.

    Raises:
        PlanError: for another number of values than an action has, or an infinite bound.
    """
    from rlk_ornstein_uhlenbeck_noise.noise import fitted  # not at the top: it needs gymnasium

    if type(plan.action_space).__name__ == "Box":
        fitted(plan.action_space, config)
