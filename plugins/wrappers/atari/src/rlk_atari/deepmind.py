"""`atari`: what DeepMind's agents saw of a game (Mnih et al. 2015, doi:10.1038/nature14236).

In one wrapper: no-op start, repeated actions, the brighter of two frames, episodes that end with a
life, fire at the start, small grey images, rewards of one size, stacked frames.
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

#: Among the moves: a reset.
_RESET = 255
#: A game that begins after so many moves gets a seed of its own, so that no more have to be played
#: again. The emulator takes 90 ms to be seeded, about as long as 300 moves.
MOST_MOVES = 20_000
Result = tuple[Array, float, bool, bool, dict[str, Any]]


class AtariGame(gym.Wrapper[Array, int, Array, int]):
    """A game as `make_atari` and `wrap_deepmind` of Stable Baselines 2.10 prepare it.

    Observations are [height, width, 1], or [height, width, 4] with `frame_stack`, the latest frame
    last: uint8, 0 to 255, or with `scale` float32, 0 to 1.

    Where an episode ends with a life while the game goes on, its last info has `goes_on`: it counts
    for learning only. At the end of a game the info has `episode`: `r`, the sum of its rewards as
    they are, and `l`, how many actions it took, of all lives.

    Args:
        env: as `gym.make` gives it; how it skips frames by itself has no effect.

    Raises:
        PlanError: if it is no such game, is in wrappers that playing it would pass over, or OpenCV
            is not installed.
    """

    #: Of the environment in it as well (`rlk_vector_environments.env_state`).
    has_whole_state = True

    def __init__(self, env: gym.Env[Array, int], config: AtariConfig | None = None) -> None:
        super().__init__(env)
        self._config = config = config or AtariConfig()
        self._images = _opencv()
        self._game = Emulator(env, config.noop_max, config.skip)
        self._size = config.width, config.height
        self._seed: int | None = None
        self._moves = bytearray()
        # Some games stand still until FIRE is pressed, and then until a direction is.
        self._start = [1, 2] if "FIRE" in self._game.meanings else []
        self._lives, self._goes_on = 0, False
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
        """Start a new game; or, where a life has just been lost and no seed is given, go on."""
        game = self._game
        goes_on = self._goes_on and seed is None
        seed = self._noted(seed, goes_on)
        if goes_on:
            game.play(0)
        if not goes_on or game.is_over:
            game.begin(seed, options)
        for action in self._start:
            game.play(action)
            if game.is_over:
                game.begin(None, options)
        self._lives, self._goes_on = game.lives, False
        self._frames.extend([self._frame()] * self.stack_size)
        return self._observation(), {"lives": self._lives}

    def step(self, action: int) -> Result:
        game, before = self._game, self._lives
        reward = game.play(action)
        self._moves.append(action)
        self._lives = lives = game.lives
        info: dict[str, Any] = {"lives": lives}
        # Some games count no lives for a few frames between two of them.
        self._goes_on = self._config.episode_life and 0 < lives < before and not game.is_over
        if self._goes_on:
            info["goes_on"] = True
        elif game.is_over:
            info["episode"] = {"r": game.score, "l": game.steps}
        if self._config.clip_rewards:
            reward = float((reward > 0) - (reward < 0))
        self._frames.append(self._frame())
        terminated = self._goes_on or (game.is_over and not game.is_truncated)
        return self._observation(), reward, terminated, game.is_truncated, info

    # ---- state -----------------------------------------------------------------------------------

    def _noted(self, seed: int | None, goes_on: bool) -> int | None:
        """The seed of a reset, which is among the moves from now on, or begins them anew."""
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
        """The latest seed and what was played since.

        What the emulator gives as its state is memory of a C++ program: a damaged one would crash
        the process, so none is taken from a file.
        """
        moves = np.frombuffer(bytes(self._moves), np.uint8)
        return {"seed": self._seed, "moves": moves, "screen": self._checksum()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Plays all of that again; nothing of a game that had not been reset yet.

        Raises:
            Unsupported: if the game has no such action, or goes otherwise: this is another game, or
                another version of the emulator.
        """
        if state["seed"] is None:
            return
        seed, moves = int(state["seed"]), np.asarray(state["moves"], np.uint8)
        if not np.all((moves < len(self._game.meanings)) | (moves == _RESET)):
            raise Unsupported(f"a saved game has actions beyond {self.action_space}")
        self.reset(seed=seed)
        for move in moves.tolist():
            if move == _RESET:
                self.reset()
            else:
                self.step(move)
        if self._checksum() != state["screen"]:
            raise Unsupported("a saved game goes otherwise here: another game or emulator?")

    def _checksum(self) -> int:
        """Of what is seen now."""
        return zlib.crc32(self._game.screen.tobytes())

    def _frame(self) -> Array:
        """The screen, smaller: each pixel is the mean of what it covers."""
        images = self._images
        frame: Array
        frame = images.resize(self._game.screen, self._size, interpolation=images.INTER_AREA)
        return frame.astype(np.float32) / 255 if self._config.scale else frame

    def _observation(self) -> Array:
        """A new array [height, width, frames]."""
        if self.stack_size == 1:
            return self._frames[0][..., None]
        merged: Array = self._images.merge(self._frames)
        return merged


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise PlanError(f"wrapper 'atari' needs OpenCV: {error}. Type: {INSTALL}") from error
    return cv2
