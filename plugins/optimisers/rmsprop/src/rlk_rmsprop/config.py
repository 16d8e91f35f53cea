"""Settings of RMSProp."""

from __future__ import annotations

from typing import Literal, get_args

import attrs
from attrs import validators as v

Variant = Literal["tensorflow", "torch"]


@attrs.frozen(kw_only=True)
class RMSPropConfig:
    """The variant of RMSProp, and how long it remembers."""

    variant: Variant = attrs.field(
        default="tensorflow",
        validator=v.in_(get_args(Variant)),
        metadata={
            "help": "tensorflow: epsilon inside the root, a mean square that begins at 1, the "
            "learning rate in the velocity; torch: epsilon added to the root, a mean "
            "square that begins at 0, the learning rate outside of the velocity"
        },
    )
    alpha: float = attrs.field(
        default=0.99,
        validator=[v.ge(0.0), v.le(1.0)],
        metadata={"help": "decay of the running mean square, 0 to 1"},
    )
    momentum: float = attrs.field(
        default=0.0,
        validator=[v.ge(0.0), v.lt(1.0)],
        metadata={"help": "part of the velocity that is kept from step to step, 0 to below 1"},
    )
