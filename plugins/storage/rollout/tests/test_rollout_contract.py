"""The kernel's contract of a base storage."""

from rlk.testing import StorageContract


class TestRollout(StorageContract):
    component = "rollout"
