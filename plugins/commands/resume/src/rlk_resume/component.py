"""What the command line needs to list `rlk resume`, before it is called."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="resume",
    factory="rlk_resume.command:resume",
    summary="Continue a run from its last checkpoint.",
)
