"""What DeepMind's wrappers of Atari games do, for gym's interface and for Gymnasium's.

Mnih et al. 2015, doi:10.1038/nature14236. Images are [H, W, C]. `NoopReset` becomes a wrapper by a
second base class, the `Wrapper` of either interface: `class NoopResetEnv(NoopReset, Wrapper)`. A
step returns (observation, reward, *ends, info), where `ends` are done, or terminated and truncated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array


class Part:
    """A first base class of wrappers; the second one keeps `env`.

    Args:
        env: the environment to wrap.
    """

    env: Any
    unwrapped: Any

    def __init__(self, env: Any) -> None:
        super().__init__(env)  # type: ignore[call-arg]


class NoopReset(Part):
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
        begun = self.env.reset(**kwargs)
        noops = self.override_num_noops
        if noops is None:
            noops = _drawn(self.unwrapped.np_random, 1, self.noop_max)
        return _after(self.env, begun, [self.noop_action] * noops, kwargs)


class FireReset(Part):
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


class EpisodicLife(Part):
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
        observation, reward, *ends, info = self.env.step(action)
        self.was_real_done = any(ends)
        lives, before = _lives_of(self), self.lives
        self.lives = lives
        # Some games report 0 lives for a few frames after the loss of one.
        ends[0] = ends[0] or 0 < lives < before
        return observation, reward, *ends, info

    def reset(self, **kwargs: Any) -> Any:
        """Start a new game, or continue with the next life of this one, by a no-op step."""
        is_over = self.was_real_done
        begun = self.env.reset(**kwargs) if is_over else _after(self.env, None, [0], kwargs)
        self.lives = _lives_of(self)
        return begun


class MaxAndSkip(Part):
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
        total = 0.0
        for _ in range(self._skip):
            observation, reward, *ends, info = self.env.step(action)
            frames.append(observation)
            total += float(reward)
            if any(ends):
                break
        return np.max(frames, axis=0), total, *ends, info


def meanings_of(env: Any) -> list[str]:
    """The names of a game's actions, in the order of its action space; [] if it is not a game."""
    game = env.unwrapped
    return list(game.get_action_meanings()) if hasattr(game, "get_action_meanings") else []


def check_meanings(env: Any, wanted: str, *, at: int) -> None:
    """Raise PlanError unless the action number `at` has the name `wanted`."""
    meanings = meanings_of(env)
    if len(meanings) <= at or meanings[at] != wanted:
        raise PlanError(
            f"action {at} of an Atari game is {wanted}; the actions of "
            f"{type(env.unwrapped).__name__} are {', '.join(meanings) or 'without names'}."
        )


def _lives_of(env: Any) -> int:
    """The number of lives that are left in an Atari game."""
    return int(env.unwrapped.ale.lives())


def _after(env: Any, begun: Any, actions: Sequence[int], again: Mapping[str, Any]) -> Any:
    """The result of a reset after some further actions; if one ends the game, it is reset.

    Args:
        begun: the result of the reset: an observation, or with Gymnasium's interface a pair with
            the info.
        again: keyword arguments of further resets.
    """
    for action in actions:
        observation, _, *ends, info = env.step(action)
        begun = (observation, info) if len(ends) == 2 else observation
        if any(ends):
            begun = env.reset(**again)
    return begun


def _drawn(generator: Any, low: int, high: int) -> int:
    """A random integer from low to high, inclusive, from a numpy `Generator` or `RandomState`."""
    draw = getattr(generator, "integers", None) or generator.randint
    return int(draw(low, high + 1))
