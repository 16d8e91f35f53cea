"""What rlk expects of a decorating storage and of an extension."""

from rlk.testing import DecoratorContract, ExtensionContract


class TestCombinedReplay(DecoratorContract):
    component = "combined-replay"


class TestPatience(ExtensionContract):
    component = "patience"
