"""The parts of DeepMind's preprocessing of Atari games, as wrappers with gym's interface.

Mnih et al. 2015, doi:10.1038/nature14236. Images are [H, W, C].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.warping import warper
from rlk_baselines.gym.core import ObservationWrapper, RewardWrapper, Wrapper


def meanings_of(env: Any) -> list[str]:
    """The names of a game's actions, in the order of its action space; [] if it is not a game."""
    game = env.unwrapped
    return list(game.get_action_meanings()) if hasattr(game, "get_action_meanings") else []


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

    def __init__(self, env: Any, noop_max: int = 30) -> None:
        super().__init__(env)
        self.noop_max = noop_max
        self.override_num_noops: int | None = None
        self.noop_action = 0
        check_meanings(self.env, "NOOP", at=0)

    def reset(self, **kwargs: Any) -> Any:
        observation = self.env.reset(**kwargs)
        noops = self.override_num_noops
        if noops is None:
            noops = _drawn(self.unwrapped.np_random, 1, self.noop_max)
        return _after(self.env, observation, [self.noop_action] * noops, kwargs)


class FireResetEnv(Wrapper):
    """Plays actions 1 (FIRE) and 2 after a reset, for games that wait for FIRE to start.

    Args:
        env: the game.

    Raises:
        PlanError: if its second action is not FIRE.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        check_meanings(self.env, "FIRE", at=1)

    def reset(self, **kwargs: Any) -> Any:
        return _after(self.env, self.env.reset(**kwargs), [1, 2], kwargs)


class EpisodicLifeEnv(Wrapper):
    """Ends an episode at every loss of a life; the game continues in the next episode.

    Args:
        env: the game.

    Attributes:
        was_real_done: whether the game itself was over at the latest step.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.lives = 0
        self.was_real_done = True

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        self.was_real_done = done
        lives, before = lives_of(self), self.lives
        self.lives = lives
        # Some games report 0 lives for a few frames after the loss of one.
        return observation, reward, done or 0 < lives < before, info

    def reset(self, **kwargs: Any) -> Any:
        """Start a new game, or continue with the next life of this one, by a no-op step."""
        is_over = self.was_real_done
        begun = self.env.reset(**kwargs) if is_over else _after(self.env, None, [0], kwargs)
        self.lives = lives_of(self)
        return begun


class MaxAndSkipEnv(Wrapper):
    """Repeats every action, sums the rewards, and takes the pixelwise maximum of the last 2 frames.

    Args:
        env: the game.
        skip: the number of frames per action.
    """

    def __init__(self, env: Any, skip: int = 4) -> None:
        super().__init__(env)
        self._skip = skip

    def step(self, action: Any) -> Any:
        frames: deque[Array] = deque(maxlen=2)
        total, done = 0.0, False
        info: dict[str, Any] = {}
        for _ in range(self._skip):
            observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
            frames.append(observation)
            total += float(reward)
            if done:
                break
        return np.max(frames, axis=0), total, done, info


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


def lives_of(env: Any) -> int:
    """The number of lives that are left in an Atari game."""
    return int(env.unwrapped.ale.lives())


def check_meanings(env: Any, wanted: str, *, at: int) -> None:
    """Raise PlanError unless the action number `at` has the name `wanted`."""
    meanings = meanings_of(env)
    if len(meanings) <= at or meanings[at] != wanted:
        raise PlanError(
            f"action {at} of an Atari game is {wanted}; the actions of "
            f"{type(env.unwrapped).__name__} are {', '.join(meanings) or 'without names'}."
        )


def _after(env: Any, begun: Any, actions: Sequence[int], again: Mapping[str, Any]) -> Any:
    """The observation of a reset after some further actions; if one ends the game, it is reset.

    Args:
        begun: the observation of the reset.
        again: keyword arguments of further resets.
    """
    observation = begun
    for action in actions:
        observation, _, done, _ = env.step(action)
        if done:
            observation = env.reset(**again)
    return observation


def _drawn(generator: Any, low: int, high: int) -> int:
    """A random integer from low to high, inclusive, from a numpy `Generator` or `RandomState`."""
    draw = getattr(generator, "integers", None) or generator.randint
    return int(draw(low, high + 1))
