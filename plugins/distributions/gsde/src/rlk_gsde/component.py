"""What this distribution package offers: `gsde`."""

from __future__ import annotations

from rlk.component import Component
from rlk_gsde.config import GSDEConfig

component = Component(
    name="gsde",
    factory="rlk_gsde.distribution:GSDE",
    summary="continuous actions with state-dependent noise that is kept for many steps",
    config=GSDEConfig,
    action_spaces=("Box",),
)
