"""The kernel's contract of a command."""

from rlk_cli.testing import CommandContract


class TestResume(CommandContract):
    component = "resume"
