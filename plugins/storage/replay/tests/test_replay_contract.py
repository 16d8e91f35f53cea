"""The kernel's contract of a base storage."""

from rlk.testing import StorageContract


class TestReplay(StorageContract):
    component = "replay"
