"""The kernel's contract for wrappers."""

from __future__ import annotations

from rlk_testing import WrapperContract


class TestMonitor(WrapperContract):
    component = "monitor"


class TestNormalize(WrapperContract):
    component = "normalize"


class TestNormalizeOfADict(WrapperContract):
    component = "normalize"
    walk = {"observation": "dict"}
