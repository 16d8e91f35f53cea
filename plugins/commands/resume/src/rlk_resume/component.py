"""The component of `rlk resume`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="resume",
    factory="rlk_resume.command:resume",
    summary="Continue a run from its last checkpoint.",
)
