"""The kernel's contracts of an environment component and of a wrapper."""

from importlib.util import find_spec

import pytest
from stand_in_game import StandInGame

from rlk_testing import EnvironmentContract, WrapperContract

pytest.importorskip("cv2", reason="OpenCV is an extra")


class TestAle(EnvironmentContract):
    component = "ale"
    # What an id makes can only be tested if ale-py, an extra, is installed.
    ids = ("ALE/Pong-v5", "PongNoFrameskip-v4") if find_spec("ale_py") else ()


class TestAtari(WrapperContract):
    component = "atari"
    env = "stand_in_game:StandInGame"
    settings = {"width": 2, "height": 2, "scale": True}
    steps_inside = False  # it plays the emulator

    def around_one(self):
        return self.made(StandInGame())
