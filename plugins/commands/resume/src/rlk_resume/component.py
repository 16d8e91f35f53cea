"""What the command line knows of `rlk resume` before it is called."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="resume",
    factory="rlk_resume.command:resume",
    summary="Go on with a run where its last checkpoint is.",
)
