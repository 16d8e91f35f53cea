"""The kernel's contract of a command."""

from rlk_testing import CommandContract


class TestShow(CommandContract):
    component = "plugins.show"


class TestCheck(CommandContract):
    component = "plugins.check"
