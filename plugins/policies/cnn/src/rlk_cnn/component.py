"""What this distribution offers.

`cnn`, also as `CnnPolicy`, and `LnCnnPolicy`, with layer norm in the heads.
"""

from __future__ import annotations

import attrs

from rlk.component import Component
from rlk_cnn.config import CnnConfig, check

cnn = Component(
    name="cnn",
    factory="rlk_cnn.network:Cnn",
    summary="the Nature CNN for images, shared by all heads",
    config=CnnConfig,
    observation_spaces=("Image",),
    check=check,
)
ln_cnn = attrs.evolve(cnn, own_defaults={"layer_norm": True})
