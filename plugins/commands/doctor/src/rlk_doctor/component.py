"""What the command line knows of `rlk doctor` before it is called."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="doctor",
    factory="rlk_doctor.command:doctor",
    summary="Say what is installed, and what is broken or missing on this machine.",
)
