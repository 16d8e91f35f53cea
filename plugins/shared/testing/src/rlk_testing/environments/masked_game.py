"""A game with `action_masks()`, as third-party environments have it, that refuses illegal moves.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import choices_of

#: Spaces by name. They are made anew each time, because a space has its own random generator.
OBSERVATIONS: dict[str, Callable[[], spaces.Space[Any]]] = {
    "Box": lambda: spaces.Box(-2.0, 2.0, (3,), np.float32),
    "Image": lambda: spaces.Box(0, 255, (36, 36, 1), np.uint8),
    "Discrete": lambda: spaces.Discrete(5),
    "Dict": lambda: spaces.Dict(
        {"place": spaces.Box(-2.0, 2.0, (2,), np.float32), "room": spaces.Discrete(5)}
    ),
}
ACTIONS: dict[str, Callable[[], spaces.Space[Any]]] = {
    "Discrete": lambda: spaces.Discrete(6, start=2),
    "MultiDiscrete": lambda: spaces.MultiDiscrete([3, 4], start=[1, -1]),
    "MultiBinary": lambda: spaces.MultiBinary(3),
    "Box": lambda: spaces.Box(-1.0, 1.0, (2,), np.float32),
}


class MaskedGame(gym.Env[Any, Any]):
    """A random mask of allowed moves at every step; every third game is truncated.

    A forbidden move raises ValueError, and so does asking for the mask after termination. The
    reward is the fraction of an action's choices that took their first allowed option.

    Args:
        observation, action: keys of `OBSERVATIONS` and `ACTIONS`.
        length: steps of a game.
        spoil: a fault at step `spoil_at`, counted over all games. `action_masks()` returns a mask
            that is `empty` (nothing is allowed), too `short` by one, or of `numbers` instead of
            booleans; with `error`, `step` raises.
    """

    def __init__(
        self,
        observation: str = "Box",
        action: str = "Discrete",
        length: int = 7,
        spoil: str = "",
        spoil_at: int = 5,
    ) -> None:
        self.observation_space: Any = OBSERVATIONS[observation]()
        self.action_space: Any = ACTIONS[action]()
        self.length, self.spoil, self.spoil_at = length, spoil, spoil_at
        self.steps, self.ever, self.games, self.is_over = 0, 0, 0, False
        # A Box is refused before it is played, so it may have any mask.
        countable = spaces.MultiBinary(2) if action == "Box" else self.action_space
        self.sizes, self.starts = choices_of(countable)
        self.mask = np.ones(sum(self.sizes), np.bool_)

    def action_masks(self) -> Any:
        """The mask of allowed moves, bool [M], in sb3-contrib's layout."""
        if self.is_over:
            raise ValueError("the game is over: there are no moves")
        is_spoilt = self.ever == self.spoil_at
        if is_spoilt and self.spoil == "empty":
            return np.zeros_like(self.mask)
        if is_spoilt and self.spoil == "short":
            return self.mask[1:]
        return 0.5 * self.mask if is_spoilt and self.spoil == "numbers" else self.mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps, self.is_over = 0, False
        self._draw()
        return self._show(self.observation_space), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        chosen = np.reshape(action, -1) - self.starts
        ends = np.cumsum(self.sizes)
        allowed = [self.mask[end - n : end] for end, n in zip(ends, self.sizes, strict=True)]
        if not all(part[one] for part, one in zip(allowed, chosen, strict=True)):
            raise ValueError(f"{action} is forbidden; the mask is {self.mask.tolist()}")
        first = [int(part.argmax()) for part in allowed]
        self.steps += 1
        self.ever += 1
        if self.spoil == "error" and self.ever == self.spoil_at:
            raise RuntimeError("this environment was told to fail")
        is_last = self.steps >= self.length
        self.games += is_last
        is_cut = is_last and self.games % 3 == 0
        self.is_over = is_last and not is_cut
        self._draw()
        reward = float(np.mean(chosen == first))
        return self._show(self.observation_space), reward, self.is_over, is_cut, {}

    def _draw(self) -> None:
        parts = []
        for size in self.sizes:
            part: Array = self.np_random.random(size) < 0.4
            part[self.np_random.integers(size)] = True
            parts.append(part)
        self.mask = np.concatenate(parts)

    def _show(self, space: Any) -> Any:
        if isinstance(space, spaces.Dict):
            return {key: self._show(part) for key, part in space.spaces.items()}
        if isinstance(space, spaces.Discrete):
            return np.int64(self.np_random.integers(space.n))
        if space.dtype == np.uint8:
            return self.np_random.integers(0, 256, space.shape).astype(np.uint8)
        return self.np_random.uniform(space.low, space.high).astype(np.float32)
