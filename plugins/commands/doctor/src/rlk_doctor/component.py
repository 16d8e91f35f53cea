"""The component of `rlk doctor`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="doctor",
    factory="rlk_doctor.command:doctor",
    summary="Show what is installed, and what is broken or missing on this machine.",
)
