"""Settings of the policy for Dict observations: those of `mlp`, and two for images."""

from __future__ import annotations

from typing import Literal

import attrs

from rlk.settings import setting
from rlk_mlp.config import MlpConfig


@attrs.frozen(kw_only=True)
class MultiInputConfig(MlpConfig):
    """`layers` and `net_arch` are hidden layers on top of all keys together."""

    features: int = attrs.field(
        default=256,
        **setting("size of the last layer of each image's CNN (1 or more)", attrs.validators.ge(1)),
    )
    channels: Literal["auto", "first", "last"] = attrs.field(
        default="auto",
        **setting(
            "which axis of images holds their channels; auto takes the first if it is the "
            "shortest, else the last",
            attrs.validators.in_(("auto", "first", "last")),
        ),
    )
