"""A stand-in for an Atari game of the Arcade Learning Environment that shows the frame's number."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_testing.environments import Result, Walk

#: The actions, and the reward for a frame in which each is played.
REWARDS = {"NOOP": 0, "FIRE": 0, "RIGHT": 0, "LEFT": 3, "DOWN": -2}
#: Height and width of the screen in pixels.
SIZE = 8


class StandInEmulator:
    """The part of ale-py's `ALEInterface` that `rlk_atari` uses.

    An odd frame shows its number in the left half of the screen, an even one in the right half; the
    other half is black. A life has `life` frames; a game is truncated after `limit` frames.

    Attributes:
        frames: number of frames in this game.
        played: the action of every frame, in all games.
    """

    def __init__(self, lives: int, life: int, limit: int, fails_at: int) -> None:
        self._all_lives, self._life, self._limit = lives, life, limit
        self._fails_at = fails_at
        self.frames, self.played = 0, list[int]()

    def reset_game(self) -> None:
        self.frames = 0

    def act(self, action: int) -> int:
        self.frames += 1
        self.played.append(action)
        if len(self.played) == self._fails_at:
            raise RuntimeError("this environment was told to fail")
        return list(REWARDS.values())[action]

    def lives(self) -> int:
        return max(self._all_lives - self.frames // self._life, 0)

    def game_truncated(self) -> bool:
        return self.frames >= self._limit

    def game_over(self) -> bool:
        return self.lives() == 0 or self.game_truncated()

    def getScreenDims(self) -> tuple[int, int]:
        return SIZE, SIZE

    def getScreenGrayscale(self, screen: Array) -> None:
        half = SIZE // 2
        screen[:] = 0
        screen[:, slice(half) if self.frames % 2 else slice(half, SIZE)] = self.frames % 256

    def getScreenRGB(self, screen: Array) -> None:
        grey = np.empty((SIZE, SIZE), np.uint8)
        self.getScreenGrayscale(grey)
        screen[:] = grey[..., None]


class StandInGame(Walk):
    """Like ale-py's `AtariEnv`, but played through its emulator: `step` must not be called.

    Args:
        lives, life, limit: see `StandInEmulator`.
        fires: whether one of its actions is FIRE.
        spoil, spoil_at: with "error", frame `spoil_at`, counted over all games, raises an error.
    """

    def __init__(
        self,
        lives: int = 2,
        life: int = 20,
        limit: int = 1000,
        fires: bool = True,
        spoil: str = "",
        spoil_at: int = 0,
    ) -> None:
        super().__init__()
        self.ale = StandInEmulator(lives, life, limit, spoil_at if spoil == "error" else 0)
        meanings = [one if fires or one != "FIRE" else "UP" for one in REWARDS]
        self._meanings, self._action_set = meanings, list(range(len(meanings)))
        self.observation_space = spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
        self.action_space = spaces.Discrete(len(meanings))

    def get_action_meanings(self) -> list[str]:
        return self._meanings

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.ale.reset_game()
        return np.zeros((SIZE, SIZE, 3), np.uint8), {}

    def step(self, action: Any) -> Result:
        raise AssertionError("a game is played by its emulator")

    def _observation(self) -> Any:
        return None
