"""DeepMind's preprocessing of Atari games with Gymnasium's interface: one wrapper, and its parts.

Mnih et al. 2015, doi:10.1038/nature14236. Images are [H, W, C].
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.common.atari_parts import (
    EpisodicLife,
    FireReset,
    MaxAndSkip,
    NoopReset,
    check_meanings,
)
from rlk_baselines.common.warping import warper
from rlk_sb3.common.env_util import AtariWrapper

__all__ = [
    "AtariWrapper",
    "ClipRewardEnv",
    "EpisodicLifeEnv",
    "FireResetEnv",
    "MaxAndSkipEnv",
    "NoopResetEnv",
    "StickyActionEnv",
    "WarpFrame",
]

Game = gymnasium.Env[Any, Any]
Begun = tuple[Any, dict[str, Any]]
Stepped = tuple[Any, Any, bool, bool, dict[str, Any]]
Wrapper = gymnasium.Wrapper[Any, Any, Any, Any]


class StickyActionEnv(Wrapper):
    """Repeats the previous action with some probability (Machado et al. 2018, arXiv 1709.06009).

    Args:
        env: the game; its first action must be NOOP.
        action_repeat_probability: the probability, 0 to 1.

    Raises:
        PlanError: if the first action is not NOOP.
    """

    def __init__(self, env: Game, action_repeat_probability: float) -> None:
        super().__init__(env)
        check_meanings(env, "NOOP", at=0)
        self.action_repeat_probability = action_repeat_probability
        self._latest: Any = 0

    def reset(self, **kwargs: Any) -> Begun:
        self._latest = 0
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> Stepped:
        if self.np_random.random() >= self.action_repeat_probability:
            self._latest = action
        return self.env.step(self._latest)


class NoopResetEnv(NoopReset, Wrapper):
    """Starts a game with a random number of no-ops; see `NoopReset`."""


class FireResetEnv(FireReset, Wrapper):
    """Starts a game by FIRE and action 2; see `FireReset`."""


class EpisodicLifeEnv(EpisodicLife, Wrapper):
    """Ends an episode at every loss of a life; see `EpisodicLife`."""


class MaxAndSkipEnv(MaxAndSkip, Wrapper):
    """Repeats every action, and shows the maximum of the last 2 frames; see `MaxAndSkip`."""


class ClipRewardEnv(gymnasium.RewardWrapper[Any, Any]):
    """Replaces rewards by their signs: -1, 0 or 1."""

    def reward(self, reward: Any) -> float:
        return float(np.sign(reward))


class WarpFrame(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Converts images to grey and resizes them by area averaging: uint8 [height, width, 1].

    Args:
        env: an environment with RGB images as observations.
        width, height: the size in pixels.

    Raises:
        PlanError: if OpenCV is not installed.
    """

    def __init__(self, env: Game, width: int = 84, height: int = 84) -> None:
        super().__init__(env)
        self.width, self.height = width, height
        self.observation_space = spaces.Box(0, 255, (height, width, 1), np.uint8)
        self._warp = warper(width, height)

    def observation(self, observation: Any) -> Array:
        return self._warp(observation)
