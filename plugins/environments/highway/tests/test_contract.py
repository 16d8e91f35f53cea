"""The kernel's contract of an environment component."""

from importlib.util import find_spec

from rlk_testing import EnvironmentContract


class TestHighway(EnvironmentContract):
    component = "highway"
    # What an id makes can only be tested if highway-env, an extra, is installed.
    ids = ("parking-v0",) if find_spec("highway_env") else ()
