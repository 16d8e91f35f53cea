"""`make_atari` and `wrap_deepmind`, for programs that put environments together themselves."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from rlk.records import Array
from rlk_atari.component import ale
from rlk_atari.config import AtariConfig
from rlk_atari.deepmind import AtariGame, Result
from rlk_atari.emulator import Emulator


class AtariScreen(gym.Wrapper[Array, int, Array, int]):
    """A game with a no-op start and skipped frames, on the full screen: uint8 [210, 160, 3].

    Args:
        env: as `gym.make` returns it.
        config: only `noop_max` and `skip` are used, here and by `wrap_deepmind`.
    """

    def __init__(self, env: gym.Env[Array, int], config: AtariConfig | None = None) -> None:
        super().__init__(env)
        self.config = config = config or AtariConfig()
        self._game = Emulator(env, config.noop_max, config.skip, colour=True)
        self.observation_space = gym.spaces.Box(0, 255, self._game.screen.shape, np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        self._game.begin(seed, options)
        return self._game.screen.copy(), {"lives": self._game.lives}

    def step(self, action: int) -> Result:
        game = self._game
        reward = game.play(action)
        terminated = game.is_over and not game.is_truncated
        info = {"lives": game.lives}
        return game.screen.copy(), reward, terminated, game.is_truncated, info


def make_atari(env_id: str) -> AtariScreen:
    """A game by its id, with 1 to 30 no-ops at the start and actions of four frames.

    Deviation from Stable Baselines 2.10: the id may also be one that skips frames by itself
    (`ALE/Pong-v5`), which then has no effect; there, only `*NoFrameskip-v4` is allowed.

    Raises:
        PlanError: if it is not the id of an Atari game, or a package is missing.
    """
    made: Any = ale.load()(env_id)
    return AtariScreen(made() if made is not None else gym.make(env_id))


def wrap_deepmind(
    env: gym.Env[Any, Any],
    episode_life: bool = True,
    clip_rewards: bool = True,
    frame_stack: bool = False,
    scale: bool = False,
) -> AtariGame:
    """The rest of DeepMind's preprocessing; `AtariConfig` describes the settings.

    Args:
        env: the result of `make_atari`; any other game is played without no-ops and frame skipping.
    """
    of_screen = env.config if isinstance(env, AtariScreen) else AtariConfig(noop_max=0, skip=1)
    config = AtariConfig(
        episode_life=episode_life,
        clip_rewards=clip_rewards,
        frame_stack=frame_stack,
        scale=scale,
        noop_max=of_screen.noop_max,
        skip=of_screen.skip,
    )
    return AtariGame(env.env if isinstance(env, AtariScreen) else env, config)
