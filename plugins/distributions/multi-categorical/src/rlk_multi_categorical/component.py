"""What this distribution package offers: `multi-categorical`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="multi-categorical",
    factory="rlk_multi_categorical.distribution:MultiCategorical",
    summary="several discrete actions at once, independent of each other",
    action_spaces=("MultiDiscrete",),
)
