"""What this distribution offers: `multi-input`, also as `MultiInputPolicy`."""

from __future__ import annotations

from rlk.component import Component
from rlk_mlp.words import INSTEAD_OF, OF_CNN, OF_ENCODERS
from rlk_multi_input.config import MultiInputConfig, check

component = Component(
    name="multi-input",
    factory="rlk_multi_input.network:MultiInput",
    summary="Dict observations: features of images from the Nature CNN, and all other numbers",
    config=MultiInputConfig,
    instead_of={**INSTEAD_OF, **OF_ENCODERS, **OF_CNN},
    observation_spaces=("Dict",),
    check=check,
)
