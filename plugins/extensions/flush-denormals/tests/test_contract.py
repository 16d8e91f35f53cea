"""The contract of extensions."""

from __future__ import annotations

from rlk_testing import ExtensionContract


class TestFlushDenormals(ExtensionContract):
    component = "flush-denormals"
