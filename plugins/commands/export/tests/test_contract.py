"""The kernel's contract for commands."""

from __future__ import annotations

from rlk_testing import CommandContract


class TestExport(CommandContract):
    component = "export"
