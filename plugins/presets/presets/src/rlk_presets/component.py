"""The component: the preset source `zoo`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="zoo",
    factory="rlk_presets.zoo:Zoo",
    summary="tuned settings by algorithm and environment, from the zoos of Stable Baselines",
)
