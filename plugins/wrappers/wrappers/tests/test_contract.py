"""The kernel's contract for wrappers."""

from __future__ import annotations

import pytest

from rlk_films.writer import mp4_is_there
from rlk_testing import WrapperContract

WALK = "rlk_testing.environments:Walk"


class TestMonitor(WrapperContract):
    component = "monitor"


class TestNormalize(WrapperContract):
    component = "normalize"


class TestNormalizeOfADict(WrapperContract):
    component = "normalize"
    walk = {"observation": "dict"}


class TestFrameStack(WrapperContract):
    component = "frame-stack"
    settings = {"n_stack": 3}


class TestFrameStackOfADict(WrapperContract):
    component = "frame-stack"
    walk = {"observation": "dict"}


class TestTransposeImage(WrapperContract):
    component = "transpose-image"
    walk = {"observation": "image"}
    env = WALK
    given = {"env.observation": "image", "learning_rate": 1e-9}
    spoilt = {"fails_at": 5}


class TestTimeFeature(WrapperContract):
    component = "time-feature"


class TestHistory(WrapperContract):
    component = "history"


class TestActionRepeat(WrapperContract):
    component = "action-repeat"
    settings = {"repeat": 2}


class TestRewardClip(WrapperContract):
    component = "reward-clip"


class TestCheckNan(WrapperContract):
    component = "check-nan"


@pytest.mark.filterwarnings("ignore:video-recorder records nothing")
@pytest.mark.skipif(not mp4_is_there(), reason="imageio-ffmpeg is not installed")
class TestVideoRecorder(WrapperContract):
    component = "video-recorder"
    settings = {"video_length": 3}
    walk = {"render_mode": "rgb_array"}
    env = WALK
    given = {"learning_rate": 1e-6}
    spoilt = {"fails_at": 5}
