"""Random walks, to test vector environments, wrappers and all that surrounds a run."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk_testing.environments.match import Result


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
