"""The checks that every extension passes."""

from __future__ import annotations

from rlk_testing import ExtensionContract


class TestCppPriorities(ExtensionContract):
    component = "cpp-priorities"
