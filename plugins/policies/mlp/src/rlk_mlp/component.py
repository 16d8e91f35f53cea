"""What this distribution offers.

`mlp`, also as `MlpPolicy`, and `LnMlpPolicy`, the same with layer norm.
"""

from __future__ import annotations

import attrs

from rlk.component import Component
from rlk_mlp.config import MlpConfig
from rlk_mlp.words import INSTEAD_OF, OF_ENCODERS

mlp = Component(
    name="mlp",
    factory="rlk_mlp.network:Mlp",
    summary="hidden layers for every head, not shared by default",
    config=MlpConfig,
    instead_of={**INSTEAD_OF, **OF_ENCODERS},
    observation_spaces=("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Image"),
)
ln_mlp = attrs.evolve(mlp, own_defaults={"layer_norm": True})
