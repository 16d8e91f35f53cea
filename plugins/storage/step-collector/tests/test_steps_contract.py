"""The kernel's contract of a collector."""

from rlk.testing import CollectorContract


class TestSteps(CollectorContract):
    component = "steps"
