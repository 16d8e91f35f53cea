"""Settings that on-policy algorithms have in common: validators and help texts, written once.

Those of every family are from `rlk_schedules.settings`, and can be imported from here as well. Each
constant holds arguments of `attrs.field` besides the default: `gamma: float =
attrs.field(default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import UNIT, at_least, finite, setting
from rlk_schedules import as_schedule, is_curve_of, is_off, is_schedule_or_off
from rlk_schedules.settings import GAMMA as GAMMA
from rlk_schedules.settings import LEARNING_RATE as LEARNING_RATE
from rlk_schedules.settings import MAX_GRAD_NORM as MAX_GRAD_NORM


def is_clip_range(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Raises ValueError for anything but a schedule or a number above 0."""
    is_schedule_or_off(_, attribute, value)
    if is_off(value) or as_schedule(value) == 0:
        raise ValueError(f"{attribute.name} must be above 0, got {value!s}")


def is_clip_range_or_off(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Likewise, but a negative number turns the clipping off."""
    is_schedule_or_off(_, attribute, value)
    if as_schedule(value) == 0:
        raise ValueError(f"{attribute.name} must be above 0, or negative for no clipping, got 0")


def curve_of(rate: str) -> dict[str, Any]:
    """A setting that names the curve of another one, as `lr_schedule` does for `learning_rate`."""
    return setting(
        f"what {rate} is multiplied by over the run: constant, linear, double_linear_con, "
        f"middle_drop or double_middle_drop; must be constant if {rate} is a schedule itself",
        is_curve_of(rate),
    )


LAM = setting(
    "trade-off between bias and variance in generalised advantage estimation, 0 to 1", UNIT
)
LR_SCHEDULE = curve_of("learning_rate")
ENT_COEF = setting("weight of the entropy bonus, at least 0", [at_least(0.0), finite])
VF_COEF = setting("weight of the value loss, at least 0", [at_least(0.0), finite])
N_STEPS = setting(
    "steps per environment in one collection; a batch is n_steps * n_envs", at_least(1)
)
CLIP_RANGE = setting("clipping of the probability ratio, above 0; may be scheduled", is_clip_range)
