"""What this distribution offers: `adam`."""

from __future__ import annotations

from rlk.component import Component
from rlk_adam.config import AdamConfig

component = Component(
    name="adam",
    factory="rlk_adam.step:Adam",
    summary="Adam with gradient clipping, two fused calls on flat parameters",
    config=AdamConfig,
    instead_of={"use_rms_prop=False": "", "optimizer_class=Adam": ""},
)
