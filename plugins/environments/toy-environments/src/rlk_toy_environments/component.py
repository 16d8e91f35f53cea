"""The component: the module that registers the ids of these environments."""

from __future__ import annotations

from rlk.component import Component
from rlk_gymnasium.ids import ids

component = Component(
    name="toy-environments",
    factory=ids("rlk/*", registered_by="rlk_toy_environments.registration"),
    summary="rlk/BitFlipping-v0 (goals), rlk/Identity-v0, rlk/Doors-v0 (masks) and others",
)
