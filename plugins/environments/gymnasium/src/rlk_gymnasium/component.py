"""The component `gymnasium`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="gymnasium",
    factory="rlk_gymnasium.known:known_ids",
    summary="ids that are registered with Gymnasium, module:Id-v0",
)
