"""The kernel's contract of an environment component."""

from importlib.util import find_spec

from rlk_testing import EnvironmentContract


class TestPyBullet(EnvironmentContract):
    component = "pybullet"
    # What an id makes can only be tried where the simulator, an extra, is installed.
    ids = ("HalfCheetahBulletEnv-v0", "AntBulletEnv-v0") if find_spec("pybullet") else ()
