"""What this distribution offers: `rmsprop`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="rmsprop",
    factory="rlk_rmsprop.step:RMSProp",
    summary="RMSProp as TensorFlow computes it, with momentum and gradient clipping",
)
