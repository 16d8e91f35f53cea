"""The kernel's contract of a base storage."""

from rlk_testing import StorageContract


class TestRollout(StorageContract):
    component = "rollout"
