"""The kernel's contract for extensions; graphs are traced and run as they are, which is quick."""

from __future__ import annotations

from rlk_testing import ExtensionContract


class TestCompile(ExtensionContract):
    component = "compile"
    settings = {"backend": "eager"}
