"""What this distribution offers.

`cnn`, also as `CnnPolicy`, and `LnCnnPolicy`, with layer norm in the heads.
"""

from __future__ import annotations

import attrs

from rlk.component import Component
from rlk_cnn.config import CnnConfig, check
from rlk_mlp.words import INSTEAD_OF, OF_CNN, OF_ENCODERS

cnn = Component(
    name="cnn",
    factory="rlk_cnn.network:Cnn",
    summary="the Nature CNN for images, shared by all heads",
    config=CnnConfig,
    instead_of={**INSTEAD_OF, **OF_ENCODERS, **OF_CNN},
    observation_spaces=("Image",),
    check=check,
)
ln_cnn = attrs.evolve(cnn, own_defaults={"layer_norm": True})
