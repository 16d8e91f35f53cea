"""The kernel's contract of an environment component."""

from importlib.util import find_spec

from rlk_testing import EnvironmentContract


class TestRobotics(EnvironmentContract):
    component = "robotics"
    # What an id makes can only be tried where gymnasium-robotics, an extra, is installed.
    ids = ("FetchReach-v4",) if find_spec("gymnasium_robotics") else ()
