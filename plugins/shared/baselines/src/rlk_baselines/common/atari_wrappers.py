"""`make_atari` and `wrap_deepmind`: Atari games with DeepMind's preprocessing, by rlk's `atari`."""

from __future__ import annotations

from typing import Any

from rlk_atari import stable_baselines as atari
from rlk_baselines.bench import Monitor
from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.gym.making import FourValuesEnv

__all__ = ["make_atari", "wrap_deepmind"]


def make_atari(env_id: str) -> FourValuesEnv:
    """A game by its id, with 1 to 30 no-ops at the start and actions of four frames.

    Raises:
        PlanError: if it is no id of an Atari game, or a package is missing.
    """
    return FourValuesEnv(atari.AtariScreen(make_by_id(env_id)))


def wrap_deepmind(
    env: Any,
    episode_life: bool = True,
    clip_rewards: bool = True,
    frame_stack: bool = False,
    scale: bool = False,
) -> Any:
    """The rest of DeepMind's preprocessing: small grey images, fire at the start, and what follows.

    Args:
        env: of `make_atari`. A `Monitor` around it stands around the whole afterwards, and still
            records whole games with their own rewards.
        episode_life: whether an episode ends with a life.
        clip_rewards: whether rewards are -1, 0 or 1.
        frame_stack: whether an observation is the latest four frames.
        scale: whether pixels are 0 to 1.
    """
    monitors: list[Monitor] = []
    while isinstance(env, (Monitor, FourValuesEnv)):
        if isinstance(env, Monitor):
            monitors.append(env)
        env = env.env
    game: Any = FourValuesEnv(
        atari.wrap_deepmind(
            env,
            episode_life=episode_life,
            clip_rewards=clip_rewards,
            frame_stack=frame_stack,
            scale=scale,
        )
    )
    for monitor in reversed(monitors):
        monitor.env = game
        game = monitor
    return game
