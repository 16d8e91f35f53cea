"""The component `flush-denormals`, which is added wherever an agent is made."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="flush-denormals",
    factory="rlk_flush_denormals.extension:FlushDenormals",
    summary="updates flush denormal numbers to zero, which are slow on many processors",
    autostart="always",
    only_trains=True,
)
