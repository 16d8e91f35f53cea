"""An environment whose observations are stacks of frames."""

from __future__ import annotations

import gymnasium as gym


class Stacked(gym.wrappers.FrameStackObservation):
    """CartPole-v1 with the latest observations in each: large enough to be kept as frames."""

    def __init__(self) -> None:
        super().__init__(gym.make("CartPole-v1"), 12)
