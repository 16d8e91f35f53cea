"""Environments that show which action is right, one for every action space."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.records import Array

Result = tuple[Any, float, bool, bool, dict[str, Any]]
Spoil = Literal["", "reward", "observation", "huge", "error"]


class Match(gym.Env[Any, Any]):
    """The observation shows which action is right: the reward is 1 for it, less for any other.

    The next observation is drawn at random and does not depend on the action. An episode has
    `length` steps, so the best return is `length`.

    Args:
        action_space: Discrete, Box, MultiDiscrete or MultiBinary.
        length: steps per episode.
        truncates: whether episodes are truncated after `length` steps instead of terminated.
        spoil: what goes wrong at step `spoil_at`, counted over all episodes: a `reward` or an
            `observation` is NaN, every reward is `huge` from there on, or `step` raises an `error`.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any],
        length: int = 8,
        truncates: bool = False,
        spoil: Spoil = "",
        spoil_at: int = 5,
    ) -> None:
        self.action_space = action_space
        self.length, self.truncates, self.spoil, self.spoil_at = length, truncates, spoil, spoil_at
        self.observation_space = spaces.Box(-1.0, 1.0, (_width(action_space),), np.float32)
        self.steps = 0
        self.ever = 0
        self.shown = np.zeros(1, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action: Any) -> Result:
        reward = match(self.action_space, self.shown, action)
        self.steps += 1
        self.ever += 1
        observation = self._show()
        if self.spoil == "error" and self.ever == self.spoil_at:
            raise RuntimeError("this environment was told to fail")
        if self.spoil == "reward" and self.ever == self.spoil_at:
            reward = float("nan")
        if self.spoil == "observation" and self.ever == self.spoil_at:
            observation = np.full_like(observation, np.nan)
        if self.spoil == "huge" and self.ever >= self.spoil_at:
            reward = 1e30
        over = self.steps >= self.length
        return observation, reward, over and not self.truncates, over and self.truncates, {}

    def _show(self) -> Array:
        self.shown = show(self.action_space, self.np_random)
        return self.shown.copy()


class DiscreteMatch(Match):
    """Three actions, numbered from 1."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(spaces.Discrete(3, start=1), **keywords)


class BoxMatch(Match):
    """Two continuous actions with asymmetric bounds."""

    def __init__(self, **keywords: Any) -> None:
        low, high = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
        super().__init__(spaces.Box(low, high, dtype=np.float32), **keywords)


class MultiDiscreteMatch(Match):
    """Two choices at once, of two and of three."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(spaces.MultiDiscrete([2, 3]), **keywords)


class MultiBinaryMatch(Match):
    """Three switches."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(spaces.MultiBinary(3), **keywords)


class BoxTableMatch(Match):
    """Continuous actions in two rows of three."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(spaces.Box(-1.0, 2.0, (2, 3), np.float32), **keywords)


class MultiDiscreteTableMatch(Match):
    """Choices in two rows of two, each numbered from a start of its own."""

    def __init__(self, **keywords: Any) -> None:
        sizes, starts = np.array([[2, 3], [2, 2]]), np.array([[1, 0], [-1, 5]])
        choices = spaces.MultiDiscrete(sizes, start=starts)
        super().__init__(choices, **keywords)


class MultiBinaryTableMatch(Match):
    """Switches in two rows of three."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(spaces.MultiBinary((2, 3)), **keywords)


def show(space: spaces.Space[Any], rng: np.random.Generator) -> Array:
    """A random observation that shows the right action, float32 [W]."""
    if isinstance(space, spaces.Discrete):
        return np.eye(int(space.n), dtype=np.float32)[rng.integers(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        sizes = space.nvec.reshape(-1)
        chosen = [np.eye(int(n), dtype=np.float32)[rng.integers(n)] for n in sizes]
        return np.concatenate(chosen)
    if isinstance(space, spaces.MultiBinary):
        return rng.integers(0, 2, _width(space)).astype(np.float32)
    return rng.random(_width(space), dtype=np.float32)


def match(space: spaces.Space[Any], shown: Array, action: Any) -> float:
    """1 for the action that is shown, less for any other.

    Raises:
        ValueError: for an action that is not in this space.
    """
    if isinstance(space, spaces.Box):
        if not space.contains(np.asarray(action, np.float32)):
            raise ValueError(f"action {action!r} is not in {space}")
        right = space.low + shown.reshape(space.shape) * (space.high - space.low)
        return 1.0 - float(np.mean(np.abs(action - right) / (space.high - space.low)))
    action = np.asarray(action, np.int64)
    if not space.contains(action.astype(space.dtype)):
        raise ValueError(f"action {action!r} is not in {space}")
    if isinstance(space, spaces.Discrete):
        return float(shown[int(action) - int(space.start)])
    if isinstance(space, spaces.MultiDiscrete):
        offsets = np.concatenate([[0], np.cumsum(space.nvec.reshape(-1))[:-1]])
        return float(np.mean(shown[offsets + (action - space.start).reshape(-1)]))
    return float(np.mean(shown == action.reshape(-1)))


def _width(space: spaces.Space[Any]) -> int:
    """How many numbers it takes to show the right action."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(space.nvec.sum())
    return int(np.prod(space.shape or ()))
