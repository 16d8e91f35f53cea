"""The kernel's contract of a collector."""

from rlk_testing import CollectorContract


class TestSteps(CollectorContract):
    component = "steps"
