"""What rlk expects of a decorating storage and of an extension."""

from rlk_testing import DecoratorContract, ExtensionContract


class TestCombinedReplay(DecoratorContract):
    component = "combined-replay"


class TestPatience(ExtensionContract):
    component = "patience"
