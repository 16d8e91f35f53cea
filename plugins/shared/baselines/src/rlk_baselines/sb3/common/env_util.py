"""Functions that make environments of Gymnasium's interface for programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from rlk_atari.config import AtariConfig
from rlk_atari.deepmind import AtariGame
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnv
from rlk_baselines.environments.ids import make_by_id
from rlk_old_gym.interface import layers
from rlk_wrappers.stable_baselines import Monitor

Keywords = Mapping[str, Any] | None


def make_vec_env(
    env_id: str | Callable[..., Any],
    n_envs: int = 1,
    seed: int | None = None,
    start_index: int = 0,
    monitor_dir: str | None = None,
    wrapper_class: Callable[..., Any] | None = None,
    env_kwargs: Keywords = None,
    vec_env_cls: Callable[..., VecEnv] | None = None,
    vec_env_kwargs: Keywords = None,
    monitor_kwargs: Keywords = None,
    wrapper_kwargs: Keywords = None,
) -> VecEnv:
    """A vector of environments, each in a `Monitor`.

    Args:
        env_id: an id, or a class of environments.
        n_envs: how many.
        seed: of the first one; the others are seeded by the following numbers.
        start_index: the number of the first one.
        monitor_dir: a folder for their monitors' files; None writes none.
        wrapper_class: wraps each environment, outside of its monitor.
        env_kwargs, monitor_kwargs, wrapper_kwargs: keywords of what they are made of.
        vec_env_cls: of the vector; None is `DummyVecEnv`.
        vec_env_kwargs: its keywords.
    """
    keywords = dict(env_kwargs or {})
    if monitor_dir is not None:
        os.makedirs(monitor_dir, exist_ok=True)

    def maker(rank: int) -> Callable[[], Any]:
        def make() -> Any:
            made = make_by_id(env_id, **keywords) if isinstance(env_id, str) else env_id(**keywords)
            path = None if monitor_dir is None else os.path.join(monitor_dir, str(rank))
            env: Any = Monitor(made, path, **(monitor_kwargs or {}))
            if seed is not None:
                env.action_space.seed(seed + rank)
            return env if wrapper_class is None else wrapper_class(env, **(wrapper_kwargs or {}))

        return make

    makers = [maker(start_index + i) for i in range(n_envs)]
    vector: VecEnv = (vec_env_cls or DummyVecEnv)(makers, **(vec_env_kwargs or {}))
    if seed is not None:
        vector.seed(seed + start_index)
    return vector


def unwrap_wrapper(env: Any, wrapper_class: type) -> Any:
    """The outermost wrapper of a class around an environment, or None."""
    return next((layer for layer in layers(env) if isinstance(layer, wrapper_class)), None)


def is_wrapped(env: Any, wrapper_class: type) -> bool:
    """Whether an environment is in a wrapper of a class."""
    return unwrap_wrapper(env, wrapper_class) is not None


def make_atari_env(
    env_id: str | Callable[..., Any],
    n_envs: int = 1,
    seed: int | None = None,
    start_index: int = 0,
    monitor_dir: str | None = None,
    wrapper_kwargs: Keywords = None,
    env_kwargs: Keywords = None,
    vec_env_cls: Callable[..., VecEnv] | None = None,
    vec_env_kwargs: Keywords = None,
    monitor_kwargs: Keywords = None,
) -> VecEnv:
    """A vector of Atari games with DeepMind's preprocessing, each in a `Monitor`.

    Args:
        wrapper_kwargs: those of `AtariWrapper`.
        others: as of `make_vec_env`. The monitor stands around the preprocessing and records whole
            games with their own rewards.
    """

    def make(**keywords: Any) -> Any:
        game = make_by_id(env_id, **keywords) if isinstance(env_id, str) else env_id(**keywords)
        return AtariWrapper(game, **(wrapper_kwargs or {}))

    rest: dict[str, Any] = {"vec_env_cls": vec_env_cls, "vec_env_kwargs": vec_env_kwargs}
    rest |= {"env_kwargs": env_kwargs, "monitor_kwargs": monitor_kwargs}
    return make_vec_env(make, n_envs, seed, start_index, monitor_dir, **rest)


class AtariWrapper(AtariGame):
    """A game as DeepMind's agents saw it: see `rlk_atari.deepmind.AtariGame`.

    Args:
        env: the game.
        noop_max: no-ops at the start, at most.
        frame_skip: frames that an action lasts.
        screen_size: height and width of an image.
        terminal_on_life_loss: whether an episode ends with a life.
        clip_reward: whether rewards are -1, 0 or 1.
    """

    def __init__(
        self,
        env: Any,
        noop_max: int = 30,
        frame_skip: int = 4,
        screen_size: int = 84,
        terminal_on_life_loss: bool = True,
        clip_reward: bool = True,
    ) -> None:
        config = AtariConfig(
            noop_max=noop_max,
            skip=frame_skip,
            width=screen_size,
            height=screen_size,
            episode_life=terminal_on_life_loss,
            clip_rewards=clip_reward,
        )
        super().__init__(env, config)
