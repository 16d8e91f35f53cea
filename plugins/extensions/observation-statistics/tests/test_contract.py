"""The kernel's contract of extensions, for both."""

from __future__ import annotations

from rlk_testing import ExtensionContract


class TestObservationStatistics(ExtensionContract):
    component = "observation-statistics"


class TestObservationRange(ExtensionContract):
    component = "observation-range"
