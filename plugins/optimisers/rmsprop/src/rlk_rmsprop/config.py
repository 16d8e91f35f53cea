"""Settings of RMSProp."""

from __future__ import annotations

from typing import Literal, get_args

import attrs
from attrs import validators as v

from rlk.settings import documented, setting

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
        default=0.99, **setting("decay of the running mean square, 0 to 1", [v.ge(0.0), v.le(1.0)])
    )
    momentum: float = attrs.field(
        default=0.0,
        **setting(
            "part of the velocity that is kept from step to step, 0 to below 1",
            [v.ge(0.0), v.lt(1.0)],
        ),
    )
