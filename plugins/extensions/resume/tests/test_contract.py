"""The kernel's contract of a command."""

from rlk.testing import CommandContract


class TestResume(CommandContract):
    component = "resume"
