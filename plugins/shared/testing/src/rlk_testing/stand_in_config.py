"""Settings of the stand-in algorithm. Like every config's module, this one imports no torch."""

from __future__ import annotations

from collections.abc import Callable

import attrs


@attrs.frozen(kw_only=True)
class StandInConfig:
    """Settings of the stand-in algorithm."""

    learning_rate: float | Callable[[float], float] = attrs.field(
        default=0.05, metadata={"help": "step size; may be scheduled"}
    )
    gamma: float = attrs.field(
        default=0.5,
        validator=[attrs.validators.ge(0.0), attrs.validators.le(1.0)],
        metadata={"help": "discount per step, 0 to 1"},
    )
    n_steps: int = attrs.field(
        default=4,
        validator=attrs.validators.ge(1),
        metadata={"help": "vector steps per collection"},
    )
    batch_size: int = attrs.field(
        default=8, validator=attrs.validators.ge(1), metadata={"help": "transitions per update"}
    )
