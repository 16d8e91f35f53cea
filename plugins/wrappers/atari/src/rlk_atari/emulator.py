"""Plays a game of the Arcade Learning Environment, frame by frame.

It does so without the environment's `step`, which renders an image at every frame, although only
the last two frames of an action are used. Frames are [H, W], uint8, 210 by 160 for most games.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from rlk.errors import PlanError

#: Wrappers that do not change a game, so that they may be bypassed.
_ONLOOKERS = (OrderEnforcing, PassiveEnvChecker)


class Emulator:
    """A game that repeats each action for some frames and returns the maximum of the last two.

    Atari games draw some objects only in every second frame, hence the maximum of two.

    Args:
        env: as `gym.make` returns it.
        noop_max, skip: see `AtariConfig`.
        colour: whether screens are RGB, [H, W, 3], instead of grey.

    Raises:
        PlanError: if it is not an Atari game, or is in wrappers that this class would bypass.

    Attributes:
        screen: what is seen now; the next `play` overwrites it.
        is_over, is_truncated: whether the game has ended, and whether its limit of frames ended it.
        score: the sum of this game's rewards so far.
    """

    def __init__(
        self, env: gym.Env[Any, Any], noop_max: int, skip: int, *, colour: bool = False
    ) -> None:
        _check(env)
        game: Any = env.unwrapped
        self._env, self._game, self._noop_max, self._skip = env, game, noop_max, skip
        self.ale = ale = game.ale
        # Names of the emulator's actions, in the order of the action space.
        self.meanings: list[str] = game.get_action_meanings()
        self._actions = list(game._action_set)
        self._take = ale.getScreenRGB if colour else ale.getScreenGrayscale
        shape = (*ale.getScreenDims(), 3) if colour else ale.getScreenDims()
        self.screen, self._before = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
        self.is_over, self.is_truncated = True, False
        self.score = 0.0

    def begin(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game with 1 to `noop_max` frames without an action; their number is drawn."""
        self._env.reset(seed=seed, options=options)
        if self._noop_max:
            for _ in range(self._game.np_random.integers(1, self._noop_max + 1)):
                self.ale.act(self._actions[0])
                if self.ale.game_over():
                    self._env.reset(options=options)
        self._take(self.screen)
        self.is_over = self.is_truncated = False
        self.score = 0.0

    def play(self, action: int) -> float:
        """Repeat an action until its frames are played or the game ends; the sum of the rewards."""
        ale, repeated, last = self.ale, self._actions[action], self._skip - 1
        reward = 0.0
        for frame in range(self._skip):
            if frame == last:
                self._take(self._before)
            reward += ale.act(repeated)
            if ale.game_over():
                self.is_truncated = ale.game_truncated()
                self.is_over = True
                break
        self._take(self.screen)
        if last and frame == last:
            np.maximum(self.screen, self._before, out=self.screen)
        self.score += reward
        return reward

    @property
    def lives(self) -> int:
        """How many lives are left; 0 if the game does not count lives."""
        return self.ale.lives()


def _check(env: gym.Env[Any, Any]) -> None:
    """Raises PlanError for an environment that cannot be played in this way."""
    game: Any = env.unwrapped
    if not hasattr(game, "ale") or not isinstance(env.action_space, gym.spaces.Discrete):
        raise PlanError(
            f"wrapper 'atari' plays games of the Arcade Learning Environment with discrete actions "
            f"(--env ALE/Pong-v5), and {type(game).__name__} is not one. Leave it out."
        )
    if len(env.observation_space.shape or ()) < 2:
        raise PlanError(
            "wrapper 'atari' makes images of the screen, but this environment shows its RAM. Leave "
            "out the wrapper, or env.obs_type."
        )
    _check_skip(env)
    layer = env
    while isinstance(layer, gym.Wrapper):
        if not isinstance(layer, _ONLOOKERS):
            raise PlanError(
                f"wrapper 'atari' plays the game itself and would pass over "
                f"{type(layer).__name__}. Put that around it, after 'atari'; a limit of time is "
                "env.max_num_frames_per_episode."
            )
        layer = layer.env


def _check_skip(env: gym.Env[Any, Any]) -> None:
    """Raises PlanError if the user asked the environment to skip frames in another way."""
    spec = env.spec
    if spec is None or spec.id not in gym.registry:
        return
    given, usual = (one.kwargs.get("frameskip", 1) for one in (spec, gym.registry[spec.id]))
    if given not in (1, usual):
        raise PlanError(
            f"env.frameskip={given} would have no effect: wrapper 'atari' skips frames itself. Use "
            f"--set atari.skip={given} instead."
        )
