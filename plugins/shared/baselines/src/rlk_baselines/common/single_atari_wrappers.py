"""The parts of DeepMind's preprocessing of Atari games, as wrappers with gym's interface.

Mnih et al. 2015, doi:10.1038/nature14236. Images are [H, W, C].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.common.atari_parts import EpisodicLife, FireReset, MaxAndSkip, NoopReset
from rlk_baselines.common.warping import warper
from rlk_baselines.gym.core import ObservationWrapper, RewardWrapper, Wrapper


class NoopResetEnv(NoopReset, Wrapper):
    """Starts a game with a random number of no-ops; see `NoopReset`."""


class FireResetEnv(FireReset, Wrapper):
    """Starts a game by FIRE and action 2; see `FireReset`."""


class EpisodicLifeEnv(EpisodicLife, Wrapper):
    """Ends an episode at every loss of a life; see `EpisodicLife`."""


class MaxAndSkipEnv(MaxAndSkip, Wrapper):
    """Repeats every action, and shows the maximum of the last 2 frames; see `MaxAndSkip`."""


class ClipRewardEnv(RewardWrapper):
    """Replaces rewards by their signs: -1, 0 or 1."""

    def reward(self, reward: Any) -> float:
        return float(np.sign(reward))


class WarpFrame(ObservationWrapper):
    """Converts images to grey and resizes them by area averaging: uint8 [84, 84, 1].

    Args:
        env: an environment with RGB images as observations.

    Raises:
        PlanError: if OpenCV is not installed.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.width, self.height = 84, 84
        shape = (self.height, self.width, 1)
        self.observation_space = spaces.Box(0, 255, shape, self.env.observation_space.dtype.type)  # type: ignore[union-attr]
        self._warp = warper(self.width, self.height)

    def observation(self, observation: Any) -> Array:
        return self._warp(observation)


class ScaledFloatFrame(ObservationWrapper):
    """Scales pixels to [0, 1], float32. They take four times the memory in a replay buffer."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = spaces.Box(0.0, 1.0, self.env.observation_space.shape, np.float32)

    def observation(self, observation: Any) -> Array:
        return np.asarray(observation).astype(np.float32) / 255.0


class FrameStack(Wrapper):
    """Stacks the latest frames along the channels, the newest last: [H, W, C n_frames].

    Args:
        env: an environment with images as observations.
        n_frames: the number of frames. At a reset, the first frame is repeated.
    """

    def __init__(self, env: Any, n_frames: int) -> None:
        super().__init__(env)
        self.n_frames = n_frames
        self.frames: deque[Array] = deque(maxlen=n_frames)
        space: Any = self.env.observation_space
        low, high = (np.concatenate([one] * n_frames, axis=-1) for one in (space.low, space.high))
        self.observation_space = spaces.Box(low, high, dtype=space.dtype.type)

    def reset(self, **kwargs: Any) -> Any:
        first = self.env.reset(**kwargs)
        self.frames.extend([first] * self.n_frames)  # type: ignore[list-item]
        return LazyFrames(list(self.frames))

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        self.frames.append(observation)
        return LazyFrames(list(self.frames)), reward, done, info


class LazyFrames:
    """Frames that are concatenated along the last axis only when they are accessed.

    Until then, observations share the frames that they have in common.

    Args:
        frames: the frames, each [H, W, C].
    """

    def __init__(self, frames: Sequence[Array]) -> None:
        self._frames: Sequence[Array] | None = frames
        self._joined: Array | None = None

    def _force(self) -> Array:
        if self._joined is None:
            assert self._frames is not None
            self._joined = np.concatenate(self._frames, axis=-1)
            self._frames = None
        return self._joined

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        joined = self._force()
        if copy is None:
            return joined if dtype is None else joined.astype(dtype, copy=False)
        return np.array(joined, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self._force())

    def __getitem__(self, i: Any) -> Any:
        return self._force()[i]
