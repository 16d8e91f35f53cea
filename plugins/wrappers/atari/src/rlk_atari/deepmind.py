"""`atari`: the preprocessing of DeepMind's agents (Mnih et al. 2015, doi:10.1038/nature14236).

One wrapper does all of it: no-op start, repeated actions, the maximum of two frames, episodes that
end with a life, FIRE at the start, small grey images, clipped rewards, stacked frames.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_atari.component import INSTALL
from rlk_atari.config import STACKED, AtariConfig
from rlk_atari.emulator import Emulator
from rlk_vector_environments.env_state import Unsupported

#: Stands for a reset in the list of moves.
_RESET = 255
#: The first game that begins after so many moves gets a new seed, so that no more moves have to be
#: played again. Seeding the emulator takes 90 ms, about as long as 300 moves.
MOST_MOVES = 20_000
Result = tuple[Array, float, bool, bool, dict[str, Any]]


class AtariGame(gym.Wrapper[Array, int, Array, int]):
    """A game as `make_atari` and `wrap_deepmind` of Stable Baselines 2.10 prepare it.

    Observations are [height, width, 1], or [height, width, 4] with `frame_stack`, the latest frame
    last: uint8, 0 to 255, or with `scale` float32, 0 to 1.

    If a lost life ends an episode while the game goes on, its last info has `goes_on`: it counts
    for learning only. At the end of a game, the info has `episode`: `r`, the sum of the game's
    unclipped rewards, and `l`, the calls of `step` in all of its lives. The actions that `reset`
    takes (FIRE, and one without effect after a lost life) do not count. Deviation from Stable
    Baselines 2.10: there they do, because its Monitor is inside of the wrappers that take them.

    Args:
        env: as `gym.make` returns it; how it skips frames by itself has no effect.

    Raises:
        PlanError: if it is not an Atari game, is in wrappers that this one would bypass, or OpenCV
            is not installed.
    """

    #: Its state includes that of the environment inside (`rlk_vector_environments.env_state`).
    has_whole_state = True

    def __init__(self, env: gym.Env[Array, int], config: AtariConfig | None = None) -> None:
        super().__init__(env)
        self._config = config = config or AtariConfig()
        self._images = _opencv()
        self._game = Emulator(env, config.noop_max, config.skip)
        self._size = config.width, config.height
        self._seed: int | None = None
        self._moves = bytearray()
        # Some games wait until FIRE is pressed, and then until a direction is.
        self._start = [1, 2] if "FIRE" in self._game.meanings else []
        self._lives, self._goes_on, self._steps = 0, False, 0
        self.stack_size = STACKED if config.frame_stack else 1
        self._frames: deque[Array] = deque(maxlen=self.stack_size)
        self.observation_space = gym.spaces.Box(
            0,
            1 if config.scale else 255,
            (config.height, config.width, self.stack_size),
            np.float32 if config.scale else np.uint8,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start a new game, or continue it if a life has just been lost and no seed is given."""
        game = self._game
        goes_on = self._goes_on and seed is None
        seed = self._noted(seed, goes_on)
        if goes_on:
            game.play(0)
        if not goes_on or game.is_over:
            self._begin(seed, options)
        for action in self._start:
            game.play(action)
            if game.is_over:
                self._begin(None, options)
        self._lives, self._goes_on = game.lives, False
        self._frames.extend([self._frame()] * self.stack_size)
        return self._observation(), {"lives": self._lives}

    def step(self, action: int) -> Result:
        game, before = self._game, self._lives
        reward = game.play(action)
        self._moves.append(action)
        self._steps += 1
        self._lives = lives = game.lives
        info: dict[str, Any] = {"lives": lives}
        # Some games report 0 lives for a few frames between two lives.
        self._goes_on = self._config.episode_life and 0 < lives < before and not game.is_over
        if self._goes_on:
            info["goes_on"] = True
        elif game.is_over:
            info["episode"] = {"r": game.score, "l": self._steps}
        if self._config.clip_rewards:
            reward = float((reward > 0) - (reward < 0))
        self._frames.append(self._frame())
        terminated = self._goes_on or (game.is_over and not game.is_truncated)
        return self._observation(), reward, terminated, game.is_truncated, info

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._game.begin(seed, options)
        self._steps = 0

    # ---- state -----------------------------------------------------------------------------------

    def _noted(self, seed: int | None, goes_on: bool) -> int | None:
        """The seed of a reset, which is appended to the moves, or, with a seed, clears them."""
        is_due = self._seed is None or len(self._moves) > MOST_MOVES
        if seed is None and is_due and not goes_on:
            seed = int(self.np_random.integers(2**31))
        if seed is None:
            self._moves.append(_RESET)
        else:
            self._seed = seed
            self._moves.clear()
        return seed

    def get_state(self) -> dict[str, Any]:
        """The latest seed and the moves since then.

        The emulator's own state is not used: it is the memory of a C++ program, so one from a
        damaged file would crash the process.
        """
        moves = np.frombuffer(bytes(self._moves), np.uint8)
        return {"seed": self._seed, "moves": moves, "screen": self._checksum()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Play all moves of the state again; does nothing for a game that had not been reset yet.

        Raises:
            Unsupported: if the game lacks one of the actions, or ends with another screen: it is
                another game, or another version of the emulator.
        """
        if state["seed"] is None:
            return
        seed, moves = int(state["seed"]), np.asarray(state["moves"], np.uint8)
        if not np.all((moves < len(self._game.meanings)) | (moves == _RESET)):
            raise Unsupported(
                f"the saved game has moves that are not actions of {self.action_space}"
            )
        self.reset(seed=seed)
        for move in moves.tolist():
            if move == _RESET:
                self.reset()
            else:
                self.step(move)
        if self._checksum() != state["screen"]:
            raise Unsupported(
                "the saved moves lead to another screen here: is it another game, or another "
                "version of the emulator?"
            )

    def _checksum(self) -> int:
        """The checksum of the current screen."""
        return zlib.crc32(self._game.screen.tobytes())

    def _frame(self) -> Array:
        """The screen, resized: each pixel is the mean of the area that it covers."""
        images = self._images
        frame: Array
        frame = images.resize(self._game.screen, self._size, interpolation=images.INTER_AREA)
        return frame.astype(np.float32) / 255 if self._config.scale else frame

    def _observation(self) -> Array:
        """A new array [height, width, frames]."""
        if self.stack_size == 1:
            return self._frames[0][..., None]
        return self._images.merge(self._frames)


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise PlanError(f"wrapper 'atari' needs OpenCV: {error}. Type: {INSTALL}") from error
    return cv2
