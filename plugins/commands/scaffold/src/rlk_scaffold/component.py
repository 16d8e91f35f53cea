"""The command `rlk plugins new`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="plugins.new",
    factory="rlk_scaffold.command:new",
    summary="Write a package for a plugin of your own.",
)
