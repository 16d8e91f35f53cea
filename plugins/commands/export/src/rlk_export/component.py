"""The component of `rlk export`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="export",
    factory="rlk_export.command:export",
    summary="Write what a model acts with, as ONNX or for torch.export, for other programs.",
)
