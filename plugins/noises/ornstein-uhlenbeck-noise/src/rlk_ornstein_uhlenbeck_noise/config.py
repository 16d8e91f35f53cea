"""Settings of the process, with the names of Stable Baselines' OrnsteinUhlenbeckActionNoise."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import finite
from rlk_action_scaling.validators import not_negative


@attrs.frozen(kw_only=True)
class OrnsteinUhlenbeckNoiseConfig:
    """Mean, scale and time constant of the process, in units of actions from -1 to 1."""

    mean: float | list[float] = attrs.field(
        default=0.0,
        validator=finite,
        metadata={"help": "the value to which it reverts; a number, or one per action dimension"},
    )
    sigma: float | list[float] = attrs.field(
        default=0.1,
        validator=[not_negative, finite],
        metadata={"help": "scale of the noise; a number, or one per action dimension"},
    )
    theta: float = attrs.field(
        default=0.15,
        validator=[v.ge(0.0), finite],
        metadata={"help": "rate of reversion to the mean"},
    )
    dt: float = attrs.field(
        default=0.01,
        validator=[v.gt(0.0), finite],
        metadata={"help": "duration of one step"},
    )
    initial_noise: float | list[float] | None = attrs.field(
        default=None,
        validator=v.optional(finite),
        metadata={
            "help": "its value where an episode starts; a number, or one per action dimension; "
            "unset: 0"
        },
    )


def check(config: OrnsteinUhlenbeckNoiseConfig, plan: Any) -> None:
    """Refuse an action space that the settings do not fit, before anything is built.

    Raises:
        PlanError: for another number of values than an action has, or an infinite bound.
    """
    from rlk_ornstein_uhlenbeck_noise.noise import (
        OrnsteinUhlenbeckNoise,  # not at the top: it needs gymnasium
    )

    if type(plan.action_space).__name__ == "Box":
        OrnsteinUhlenbeckNoise(plan, config)
