"""What this distribution offers: `multi-input`, also as `MultiInputPolicy`."""

from __future__ import annotations

from rlk.component import Component
from rlk_multi_input.config import MultiInputConfig

component = Component(
    name="multi-input",
    factory="rlk_multi_input.network:MultiInput",
    summary="Dict observations: images through the Nature CNN, concatenated with the numbers",
    config=MultiInputConfig,
    observation_spaces=("Dict",),
)
