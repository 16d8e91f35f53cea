"""The kernel's contract of a decorating storage."""

from rlk_testing import DecoratorContract


class TestPrioritizedReplay(DecoratorContract):
    component = "prioritized-replay"
