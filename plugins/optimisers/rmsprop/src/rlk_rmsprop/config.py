"""Settings of RMSProp."""

from __future__ import annotations

from typing import Literal, get_args

import attrs
from attrs import validators as v

Variant = Literal["tensorflow", "torch"]


@attrs.frozen(kw_only=True)
class RMSPropConfig:
    """The variant of RMSProp."""

    variant: Variant = attrs.field(
        default="tensorflow",
        validator=v.in_(get_args(Variant)),
        metadata={
            "help": "tensorflow: epsilon inside the root, a mean square that begins at 1, the "
            "learning rate in the velocity; torch: epsilon added to the root, a mean "
            "square that begins at 0, the learning rate outside of the velocity"
        },
    )
