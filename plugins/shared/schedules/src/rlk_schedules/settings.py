"""Settings that algorithms of every family have in common: validators and help texts, written once.

Each constant holds arguments of `attrs.field` besides the default: `gamma: float = attrs.field(
default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import setting
from rlk_schedules.parse import is_schedule

#: A validator: from 0 to 1.
UNIT = v.and_(v.ge(0.0), v.le(1.0))


def _above_zero_or_none(_: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and not value > 0:
        raise ValueError(f"{attribute.name} must be above 0, or none, got {value!r}")


GAMMA = setting("discount per step, 0 to 1", UNIT)
LEARNING_RATE = setting(
    "the optimiser's step size: a number, a schedule such as lin_0.001, or a "
    "callable of the remaining part of the run, 1 to 0",
    is_schedule,
)
MAX_GRAD_NORM = setting(
    "the gradient's norm is clipped to this; none for no clipping", _above_zero_or_none
)
