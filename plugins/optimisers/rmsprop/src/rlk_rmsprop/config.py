"""Settings of RMSProp."""

from __future__ import annotations

from typing import Literal, get_args

import attrs
from attrs import validators as v

from rlk.settings import UNIT, at_least, below, documented, setting

Variant = Literal["tensorflow", "torch"]


@documented
@attrs.frozen(kw_only=True)
class RMSPropConfig:
    """The variant of RMSProp, and how long it remembers."""

    variant: Variant = attrs.field(
        default="tensorflow",
        **setting(
            "tensorflow: epsilon inside the root, a mean square that begins at 1, the "
            "learning rate in the velocity; torch: epsilon added to the root, a mean "
            "square that begins at 0, the learning rate outside of the velocity",
            v.in_(get_args(Variant)),
        ),
    )
    alpha: float = attrs.field(
        default=0.99, **setting("decay of the running mean square, 0 to 1", UNIT)
    )
    momentum: float = attrs.field(
        default=0.0,
        **setting(
            "part of the velocity that is kept from step to step, 0 to below 1",
            [at_least(0.0), below(1.0)],
        ),
    )
