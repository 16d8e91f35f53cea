"""The component `numpy-acting`, which is added wherever an agent is made."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="numpy-acting",
    factory="rlk_numpy_acting.extension:NumpyActing",
    summary="small networks act in numpy, several times faster; all others in torch",
    autostart="always",
)
