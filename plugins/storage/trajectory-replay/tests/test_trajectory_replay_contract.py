"""The kernel's contract of a base storage."""

from rlk_testing import StorageContract


class TestTrajectoryReplay(StorageContract):
    component = "trajectory-replay"
