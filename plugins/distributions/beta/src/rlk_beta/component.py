"""What this distribution package offers: `beta`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="beta",
    factory="rlk_beta.distribution:Beta",
    summary="continuous actions between bounds, without clipping or squashing",
    action_spaces=("Box",),
)
