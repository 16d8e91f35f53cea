"""Settings of the stand-in algorithm. Like every config's module, this one imports no torch."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from rlk.settings import setting


@attrs.frozen(kw_only=True)
class StandInConfig:
    """Settings of the stand-in algorithm."""

    learning_rate: float | Callable[[float], float] = attrs.field(
        default=0.05, **setting("step size; may be scheduled")
    )
    gamma: float = attrs.field(
        default=0.5,
        **setting(
            "discount per step, 0 to 1", [attrs.validators.ge(0.0), attrs.validators.le(1.0)]
        ),
    )
    n_steps: int = attrs.field(
        default=4, **setting("vector steps per collection", attrs.validators.ge(1))
    )
    batch_size: int = attrs.field(
        default=8, **setting("transitions per update", attrs.validators.ge(1))
    )
