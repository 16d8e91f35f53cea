"""The kernel's contract of a command."""

from rlk_testing import CommandContract


class TestResume(CommandContract):
    component = "resume"
