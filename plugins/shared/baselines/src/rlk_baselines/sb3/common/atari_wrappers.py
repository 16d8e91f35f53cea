"""DeepMind's preprocessing of Atari games with Gymnasium's interface: one wrapper, and its parts.

Mnih et al. 2015, doi:10.1038/nature14236. Images are [H, W, C].
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.common.single_atari_wrappers import check_meanings, lives_of
from rlk_baselines.common.warping import warper
from rlk_baselines.sb3.common.env_util import AtariWrapper

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


class NoopResetEnv(Wrapper):
    """Starts a game with a random number of no-ops, 1 to `noop_max`.

    Args:
        env: the game; its first action must be NOOP.
        noop_max: the largest number of no-ops.

    Attributes:
        override_num_noops: a fixed number of no-ops; None draws one.

    Raises:
        PlanError: if the first action is not NOOP.
    """

    def __init__(self, env: Game, noop_max: int = 30) -> None:
        super().__init__(env)
        check_meanings(env, "NOOP", at=0)
        self.noop_max, self.noop_action = noop_max, 0
        self.override_num_noops: int | None = None

    def reset(self, **kwargs: Any) -> Begun:
        begun = self.env.reset(**kwargs)
        noops = self.override_num_noops
        if noops is None:
            noops = int(self.unwrapped.np_random.integers(1, self.noop_max + 1))
        return _after(self.env, begun, [self.noop_action] * noops)


class FireResetEnv(Wrapper):
    """Plays actions 1 (FIRE) and 2 after a reset, for games that wait for FIRE to start.

    Args:
        env: the game.

    Raises:
        PlanError: if its second action is not FIRE.
    """

    def __init__(self, env: Game) -> None:
        super().__init__(env)
        check_meanings(env, "FIRE", at=1)

    def reset(self, **kwargs: Any) -> Begun:
        return _after(self.env, self.env.reset(**kwargs), [1, 2])


class EpisodicLifeEnv(Wrapper):
    """Ends an episode at every loss of a life; the game continues in the next episode.

    Args:
        env: the game.

    Attributes:
        was_real_done: whether the game itself was over at the latest step.
    """

    def __init__(self, env: Game) -> None:
        super().__init__(env)
        self.lives, self.was_real_done = 0, True

    def step(self, action: Any) -> Stepped:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.was_real_done = terminated or truncated
        lives, before = lives_of(self), self.lives
        self.lives = lives
        # Some games report 0 lives for a few frames after the loss of one.
        return observation, reward, terminated or 0 < lives < before, truncated, info

    def reset(self, **kwargs: Any) -> Begun:
        """Start a new game, or continue with the next life of this one, by a no-op step."""
        begun = self.env.reset(**kwargs) if self.was_real_done else _after(self.env, None, [0])
        self.lives = lives_of(self)
        return begun


class MaxAndSkipEnv(Wrapper):
    """Repeats every action, sums the rewards, and takes the pixelwise maximum of the last 2 frames.

    Args:
        env: the game.
        skip: the number of frames per action.
    """

    def __init__(self, env: Game, skip: int = 4) -> None:
        super().__init__(env)
        self._skip = skip

    def step(self, action: Any) -> Stepped:
        frames: list[Array] = []
        total, terminated, truncated = 0.0, False, False
        info: dict[str, Any] = {}
        for _ in range(self._skip):
            observation, reward, terminated, truncated, info = self.env.step(action)
            frames = [*frames[-1:], observation]
            total += float(reward)
            if terminated or truncated:
                break
        return np.max(frames, axis=0), total, terminated, truncated, info


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


def _after(env: Game, begun: Begun | None, actions: list[Any]) -> Begun:
    """The result of a reset after some further actions; if one ends the game, it is reset."""
    found = begun
    for action in actions:
        observation, _, terminated, truncated, info = env.step(action)
        found = env.reset() if terminated or truncated else (observation, info)
    assert found is not None
    return found
