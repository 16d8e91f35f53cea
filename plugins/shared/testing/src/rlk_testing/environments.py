"""Small environments for tests, such as one for every action space. Imports no torch."""

from __future__ import annotations

import time
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


def environment_named(asked: str) -> type | None:
    """The class that `rlk_testing.environments:NAME` refers to; None for any other name."""
    module, _, name = asked.partition(":")
    found = globals().get(name) if module == __name__ else None
    return found if isinstance(found, type) else None


#: The environment for every action space that components declare, as `--env` takes it.
BY_ACTION_SPACE = {
    "Discrete": "rlk_testing.environments:DiscreteMatch",
    "Box": "rlk_testing.environments:BoxMatch",
    "MultiDiscrete": "rlk_testing.environments:MultiDiscreteMatch",
    "MultiBinary": "rlk_testing.environments:MultiBinaryMatch",
}


#: Likewise, with actions of several axes.
BY_SPACE_OF_SEVERAL_AXES = {
    "Box": "rlk_testing.environments:BoxTableMatch",
    "MultiDiscrete": "rlk_testing.environments:MultiDiscreteTableMatch",
    "MultiBinary": "rlk_testing.environments:MultiBinaryTableMatch",
}


class Walk(gym.Env[Any, Any]):
    """A random walk that differs between seeds and steps, for vector environments and wrappers.

    Episodes terminate at random or are truncated after `length` steps. A reset takes the option
    `start`, a number that is added to the place where the walk starts.

    Args:
        length: steps until an episode is truncated.
        observation: `array`, `dict`, or `image` (uint8 [8, 6, 3]).
        continuous: whether actions are a Box of two numbers instead of three discrete ones.
        fails_at: step of an episode from which on `step` raises an error; 0 for never.
        infos: whether resets and steps return infos, one of them only at times.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

    def __init__(
        self,
        length: int = 7,
        observation: str = "array",
        continuous: bool = False,
        fails_at: int = 0,
        infos: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.length, self.kind, self.fails_at = length, observation, fails_at
        self.has_infos, self.render_mode = infos, render_mode
        box = spaces.Box(-1e6, 1e6, (3,), np.float32)
        self.observation_space: spaces.Space[Any] = {
            "array": box,
            "dict": spaces.Dict({"place": box, "room": spaces.Discrete(5)}),
            "image": spaces.Box(0, 255, (8, 6, 3), np.uint8),
        }[observation]
        self.action_space: spaces.Space[Any] = (
            spaces.Box(-1.0, 1.0, (2,), np.float32) if continuous else spaces.Discrete(3)
        )
        self.place = np.zeros(3, np.float32)
        self.steps = 0
        self.closed = 0
        self.label = "unset"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        start = np.float32((options or {}).get("start", 0.0))
        self.place = start + self.np_random.normal(size=3).astype(np.float32)
        return self._observation(), self._info()

    def step(self, action: Any) -> Result:
        self.steps += 1
        if self.fails_at and self.steps >= self.fails_at:
            raise RuntimeError("this environment was told to fail")
        push = np.float32(np.sum(action))
        self.place = self.place + push + self.np_random.normal(size=3).astype(np.float32)
        terminated = bool(self.np_random.random() < 0.15)
        truncated = not terminated and self.steps >= self.length
        return self._observation(), float(self.place[0]), terminated, truncated, self._info()

    def render(self) -> Any:
        return np.full((4, 4, 3), self.steps, np.uint8)

    def close(self) -> None:
        self.closed += 1

    def steps_left(self, extra: int = 0) -> int:
        """Steps until the episode is truncated; a method for tests to call."""
        return self.length - self.steps + extra

    def _info(self) -> dict[str, Any]:
        if not self.has_infos:
            return {}
        at_times = {"far": float(self.place[1])} if self.place[0] > 0 else {}
        word = "odd" if self.steps % 2 else "even"
        return {"steps": self.steps, "place": self.place.copy(), "word": word, **at_times}

    def _observation(self) -> Any:
        if self.kind == "dict":
            return {"place": self.place.copy(), "room": np.int64(abs(int(self.place[1])) % 5)}
        if self.kind == "image":
            return np.resize(np.abs(self.place * 50).astype(np.int64) % 256, (8, 6, 3)).astype(
                np.uint8
            )
        return self.place.copy()


class Misfit(Walk):
    """A walk with a value of the wrong type or shape in its third step, or in the reset after it.

    Args:
        field: the wrong value, of `FIELDS`. An observation has one number instead of three.
    """

    FIELDS = ("observation", "restart", "reward", "terminated", "truncated")

    def __init__(self, field: str) -> None:
        super().__init__(length=3)
        self.field, self.ever = field, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed)
        is_wrong = self.field == "restart" and self.ever == 3
        return observation[:1] if is_wrong else observation, info

    def step(self, action: Any) -> Any:
        observation, reward, *_ = super().step(action)
        self.ever += 1
        found = [observation, reward, False, self.ever == 3, {}]
        wrong = {"observation": observation[:1], "reward": "1", "terminated": "no", "truncated": 1}
        if self.ever == 3 and self.field in wrong:
            found[list(wrong).index(self.field)] = wrong[self.field]
        return tuple(found)


class Hangs(Walk):
    """A walk whose steps take far longer than any test waits.

    They do return in the end, so a backend that waits for them fails its test instead of blocking
    it forever.
    """

    SECONDS = 60.0

    def step(self, action: Any) -> Result:
        time.sleep(self.SECONDS)
        return super().step(action)


class Forever(gym.Env[Any, Any]):
    """One state, and a reward of 1 for every step; episodes are truncated after `length` steps.

    The value of the state is 1 / (1 - gamma); without bootstrapping at time limits it comes out
    lower.

    Args:
        ends: whether episodes are terminated after `length` steps instead of truncated.
    """

    def __init__(self, length: int = 2, ends: bool = False) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length, self.ends, self.steps = length, ends, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return np.ones(1, np.float32), {}

    def step(self, action: Any) -> Result:
        self.steps += 1
        over = self.steps >= self.length
        return np.ones(1, np.float32), 1.0, over and self.ends, over and not self.ends, {}


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
    if not space.contains(action.astype(space.dtype) if action.ndim else action[()]):
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
