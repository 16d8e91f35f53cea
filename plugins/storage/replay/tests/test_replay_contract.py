"""The kernel's contract of a base storage."""

from rlk_testing import StorageContract


class TestReplay(StorageContract):
    component = "replay"
