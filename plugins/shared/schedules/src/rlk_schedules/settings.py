"""Settings that algorithms of every family have in common: validators and help texts, written once.

Each constant holds arguments of `attrs.field` besides the default: `gamma: float = attrs.field(
default=0.99, **GAMMA)`. Imports no torch.
"""

from __future__ import annotations

from rlk.settings import UNIT, above, setting
from rlk_schedules.parse import is_schedule

GAMMA = setting("discount per step, 0 to 1", UNIT)
LEARNING_RATE = setting(
    "the optimiser's step size: a number, a schedule such as lin_0.001, or a "
    "callable of the remaining part of the run, 1 to 0",
    is_schedule,
)
MAX_GRAD_NORM = setting(
    "the gradient's norm is clipped to this; none for no clipping", above(0.0, or_none=True)
)
