"""Functions that make vectors of environments with Gymnasium's interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from rlk_atari.config import AtariConfig
from rlk_atari.deepmind import AtariGame
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnv
from rlk_baselines.environments.five_values import with_five_values
from rlk_baselines.environments.ids import make_by
from rlk_baselines.refusals import Refused
from rlk_old_gym.interface import layers
from rlk_sb3.common.monitor import Monitor

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
    """Make a vector of environments, each in a `Monitor`.

    Args:
        env_id: an id, or an environment class; environments may have gym's interface, too.
        n_envs: the number of environments.
        seed: environment i is seeded by `seed + start_index + i`; None does not seed.
        start_index: the number of the first environment, for seeds and file names.
        monitor_dir: a folder for the monitors' files; None writes none.
        wrapper_class: wraps each environment, outside its monitor; `AtariWrapper` inside, where the
            monitor records whole games with unclipped rewards, too.
        env_kwargs, monitor_kwargs, wrapper_kwargs: keyword arguments of the environments, their
            monitors and their wrappers.
        vec_env_cls: the class of the vector; None means `DummyVecEnv`.
        vec_env_kwargs: keyword arguments of the vector.
    """
    keywords = dict(env_kwargs or {})
    if monitor_dir is not None:
        os.makedirs(monitor_dir, exist_ok=True)

    def maker(rank: int) -> Callable[[], Any]:
        def make() -> Any:
            made = with_five_values(make_by(env_id, keywords))
            if seed is not None:
                made.action_space.seed(seed + rank)
            path = None if monitor_dir is None else os.path.join(monitor_dir, str(rank))
            order: list[Any] = [(Monitor, {"filename": path, **(monitor_kwargs or {})})]
            if wrapper_class is not None:
                order.append((wrapper_class, dict(wrapper_kwargs or {})))
            if _plays_games(wrapper_class):
                order.reverse()
            for wrap, its_own in order:
                made = wrap(made, **its_own)
            return made

        return make

    makers = [maker(start_index + i) for i in range(n_envs)]
    vector: VecEnv = (vec_env_cls or DummyVecEnv)(makers, **(vec_env_kwargs or {}))
    if seed is not None:
        vector.seed(seed + start_index)
    return vector


def _plays_games(wrapper_class: Any) -> bool:
    """Whether a wrapper is DeepMind's preprocessing, which plays the game itself."""
    return isinstance(wrapper_class, type) and issubclass(wrapper_class, AtariGame)


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
    """Make a vector of Atari games with DeepMind's preprocessing, each in a `Monitor`.

    The monitor is outside the preprocessing; it records whole games with unclipped rewards.

    Args:
        wrapper_kwargs: keyword arguments of `AtariWrapper`.
        others: as in `make_vec_env`.
    """

    def make(**keywords: Any) -> Any:
        return AtariWrapper(make_by(env_id, keywords), **(wrapper_kwargs or {}))

    rest: dict[str, Any] = {"vec_env_cls": vec_env_cls, "vec_env_kwargs": vec_env_kwargs}
    rest |= {"env_kwargs": env_kwargs, "monitor_kwargs": monitor_kwargs}
    return make_vec_env(make, n_envs, seed, start_index, monitor_dir, **rest)


class AtariWrapper(AtariGame):
    """DeepMind's preprocessing of an Atari game: see `rlk_atari.deepmind.AtariGame`.

    Args:
        env: the game. If it is in a `Monitor`, the result is that monitor, outside the
            preprocessing: it records whole games with unclipped rewards, too.
        noop_max: the largest number of no-ops at the start.
        frame_skip: the number of frames per action.
        screen_size: the height and width of images, in pixels.
        terminal_on_life_loss: whether the loss of a life ends an episode.
        clip_reward: whether rewards are replaced by their signs, -1, 0 or 1.
        action_repeat_probability: 0; the emulator itself repeats actions: see the error.

    Raises:
        Refused: for another `action_repeat_probability`.
    """

    def __new__(cls, env: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(env, Monitor):
            env.env = cls(env.env, *arguments, **keywords)
            return env
        return super().__new__(cls)

    def __init__(
        self,
        env: Any,
        noop_max: int = 30,
        frame_skip: int = 4,
        screen_size: int = 84,
        terminal_on_life_loss: bool = True,
        clip_reward: bool = True,
        action_repeat_probability: float = 0.0,
    ) -> None:
        if action_repeat_probability != 0.0:
            raise Refused(
                f"action_repeat_probability is {action_repeat_probability}, but here the emulator "
                "itself repeats actions. Make the game with repeat_action_probability: "
                f"env_kwargs=dict(repeat_action_probability={action_repeat_probability})."
            )
        config = AtariConfig(
            noop_max=noop_max,
            skip=frame_skip,
            width=screen_size,
            height=screen_size,
            episode_life=terminal_on_life_loss,
            clip_rewards=clip_reward,
        )
        super().__init__(env, config)
