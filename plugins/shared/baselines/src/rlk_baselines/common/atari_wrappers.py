"""DeepMind's preprocessing of Atari games: `make_atari`, `wrap_deepmind`, and single wrappers.

`wrap_deepmind(make_atari(id))` uses rlk's wrapper `atari`, which does everything in one pass and is
several times faster. Around any other environment, `wrap_deepmind` stacks the wrappers of
`single_atari_wrappers`.
"""

from __future__ import annotations

from typing import Any

from rlk_atari import stable_baselines as atari
from rlk_baselines.bench import Monitor
from rlk_baselines.common.atari_parts import meanings_of
from rlk_baselines.common.single_atari_wrappers import (
    ClipRewardEnv,
    EpisodicLifeEnv,
    FireResetEnv,
    FrameStack,
    LazyFrames,
    MaxAndSkipEnv,
    NoopResetEnv,
    ScaledFloatFrame,
    WarpFrame,
)
from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.gym.making import GymView

__all__ = [
    "ClipRewardEnv",
    "EpisodicLifeEnv",
    "FireResetEnv",
    "FrameStack",
    "LazyFrames",
    "MaxAndSkipEnv",
    "NoopResetEnv",
    "ScaledFloatFrame",
    "WarpFrame",
    "make_atari",
    "wrap_deepmind",
]


def make_atari(env_id: str) -> GymView:
    """Make a game by its id, with 1 to 30 no-ops at the start and each action repeated 4 times.

    Raises:
        PlanError: if this is not the id of an Atari game, or a package is missing.
    """
    return GymView(atari.AtariScreen(make_by_id(env_id)))


def wrap_deepmind(
    env: Any,
    episode_life: bool = True,
    clip_rewards: bool = True,
    frame_stack: bool = False,
    scale: bool = False,
) -> Any:
    """The rest of DeepMind's preprocessing: grey 84x84 images, FIRE at the start, and the options.

    Args:
        env: an environment from `make_atari`, or another one with images. A `Monitor` around one
            from `make_atari` becomes the outermost wrapper, and still records whole games with
            unclipped rewards.
        episode_life: whether the loss of a life ends an episode.
        clip_rewards: whether rewards are replaced by their signs, -1, 0 or 1.
        frame_stack: whether an observation is the latest four frames.
        scale: whether pixels are scaled to 0 to 1.
    """
    monitors: list[Monitor] = []
    inner = env
    while isinstance(inner, (Monitor, GymView)):
        if isinstance(inner, Monitor):
            monitors.append(inner)
        inner = inner.env
    if not isinstance(inner, atari.AtariScreen):
        return _one_by_one(env, episode_life, clip_rewards, frame_stack, scale)
    game: Any = GymView(
        atari.wrap_deepmind(
            inner,
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


def _one_by_one(
    env: Any, episode_life: bool, clip_rewards: bool, frame_stack: bool, scale: bool
) -> Any:
    """The same preprocessing as a stack of wrappers, around any environment."""
    if episode_life:
        env = EpisodicLifeEnv(env)
    if "FIRE" in meanings_of(env):
        env = FireResetEnv(env)
    env = WarpFrame(env)
    if scale:
        env = ScaledFloatFrame(env)
    if clip_rewards:
        env = ClipRewardEnv(env)
    return FrameStack(env, 4) if frame_stack else env
