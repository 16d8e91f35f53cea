"""The component of `rlk export`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="export",
    factory="rlk_export.command:export",
    summary="Export the policy of a model, as ONNX or for torch.export, to run without rlk.",
)
