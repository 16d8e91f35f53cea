"""The component of `rlk import`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="import",
    factory="rlk_import.command:command",
    summary="Convert a model of Stable Baselines 2.10 or 3, or hyperparameters of its zoo.",
)
