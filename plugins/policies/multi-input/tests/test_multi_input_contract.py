"""The kernel's contract of a policy."""

import gymnasium as gym
import numpy as np

from rlk_testing import PolicyContract
from rlk_testing.contracts.policy.observations import OBSERVATION_SPACES

WITH_IMAGE = gym.spaces.Dict(
    {
        "camera": gym.spaces.Box(0, 255, (36, 40, 3), np.uint8),
        "place": gym.spaces.Box(-1.0, 1.0, (2, 2), np.float32),
    }
)


class TestMultiInput(PolicyContract):
    component = "multi-input"
    observation_spaces = (OBSERVATION_SPACES["Dict"], WITH_IMAGE)


class TestMultiInputForEveryHead(PolicyContract):
    component = "multi-input"
    settings = {"share_encoder": False}
    observation_spaces = (OBSERVATION_SPACES["Dict"], WITH_IMAGE)


class TestMultiInputPolicy(PolicyContract):
    component = "MultiInputPolicy"
