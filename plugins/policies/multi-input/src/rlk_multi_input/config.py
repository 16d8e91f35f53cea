"""Settings of the policy for Dict observations: those of `mlp`, and two for images."""

from __future__ import annotations

import attrs

from rlk.settings import setting
from rlk_cnn.config import CHANNELS, Channels
from rlk_mlp.config import MlpConfig


@attrs.frozen(kw_only=True)
class MultiInputConfig(MlpConfig):
    """`layers` and `net_arch` are hidden layers on top of all keys together."""

    features: int = attrs.field(
        default=256,
        **setting("size of the last layer of each image's CNN (1 or more)", attrs.validators.ge(1)),
    )
    channels: Channels = attrs.field(default="auto", **CHANNELS)
