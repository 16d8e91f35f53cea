"""Plays a game of the Arcade Learning Environment, frame by frame.

It does so without the environment's `step`, which makes an image of the screen at every frame: of
an action only the last two are looked at. Frames are [H, W], uint8, 210 by 160 for most games.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from rlk.errors import PlanError

#: Wrappers that only look on, around which a game may be played.
_ONLOOKERS = (OrderEnforcing, PassiveEnvChecker)


class Emulator:
    """A game that repeats each action for some frames, and shows the brighter of the last two.

    Atari games draw some objects in every second frame only, hence two of them.

    Args:
        env: as `gym.make` gives it.
        noop_max, skip: see `AtariConfig`.
        colour: whether screens are RGB, [H, W, 3], instead of grey.

    Raises:
        PlanError: if it is no such game, or is in wrappers that playing it would pass over.

    Attributes:
        screen: what is seen now; the next `play` writes over it.
        is_over, is_truncated: whether the game has ended, and whether by its limit of frames.
        score, steps: of this game so far: the sum of its rewards, and the calls of `play`.
    """

    def __init__(
        self, env: gym.Env[Any, Any], noop_max: int, skip: int, *, colour: bool = False
    ) -> None:
        _check(env)
        game: Any = env.unwrapped
        self._env, self._game, self._noop_max, self._skip = env, game, noop_max, skip
        self.ale = ale = game.ale
        # Meanings are names of the emulator's actions, in the order of the action space.
        self.meanings: list[str] = game.get_action_meanings()
        self._actions = list(game._action_set)
        self._take = ale.getScreenRGB if colour else ale.getScreenGrayscale
        shape = (*ale.getScreenDims(), 3) if colour else ale.getScreenDims()
        self.screen, self._before = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
        self.is_over, self.is_truncated = True, False
        self.score, self.steps = 0.0, 0

    def begin(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game, and let a number of frames pass that is drawn from 1 to `noop_max`."""
        self._env.reset(seed=seed, options=options)
        if self._noop_max:
            for _ in range(self._game.np_random.integers(1, self._noop_max + 1)):
                self.ale.act(self._actions[0])
                if self.ale.game_over():
                    self._env.reset(options=options)
        self._take(self.screen)
        self.is_over = self.is_truncated = False
        self.score, self.steps = 0.0, 0

    def play(self, action: int) -> float:
        """Repeat an action, to the end of the game at most; the sum of the rewards."""
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
        self.steps += 1
        return reward

    @property
    def lives(self) -> int:
        """How many are left; 0 where a game does not count them."""
        return self.ale.lives()  # type: ignore[no-any-return]


def _check(env: gym.Env[Any, Any]) -> None:
    """PlanError for what cannot be played like this."""
    game: Any = env.unwrapped
    if not hasattr(game, "ale") or not isinstance(env.action_space, gym.spaces.Discrete):
        raise PlanError(
            f"wrapper 'atari' plays games of the Arcade Learning Environment with discrete actions "
            f"(--env ALE/Pong-v5), and {type(game).__name__} is none. Leave it out."
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
    """PlanError where somebody asked the environment to skip frames in another way."""
    spec = env.spec
    if spec is None or spec.id not in gym.registry:
        return
    given, usual = (one.kwargs.get("frameskip", 1) for one in (spec, gym.registry[spec.id]))
    if given not in (1, usual):
        raise PlanError(
            f"env.frameskip={given} would have no effect: wrapper 'atari' skips frames itself. Use "
            f"--set atari.skip={given} instead."
        )
