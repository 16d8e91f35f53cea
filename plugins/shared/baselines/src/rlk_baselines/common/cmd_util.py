"""Functions that make environments for training scripts, and parsers of their arguments."""

from __future__ import annotations

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from rlk_baselines import logger
from rlk_baselines.bench import Monitor
from rlk_baselines.common.atari_wrappers import make_atari, wrap_deepmind
from rlk_baselines.common.misc_util import mpi_rank_or_zero, set_global_seeds
from rlk_baselines.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv
from rlk_baselines.environments.ids import make_by, make_by_id
from rlk_baselines.gym.core import Env
from rlk_baselines.gym.wrappers.adapted import Adapted


def make_vec_env(
    env_id: str | Callable[..., Any],
    n_envs: int = 1,
    seed: int | None = None,
    start_index: int = 0,
    monitor_dir: str | None = None,
    wrapper_class: Callable[[Any], Any] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    vec_env_cls: Callable[..., VecEnv] | None = None,
    vec_env_kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Make a vector of environments, each in a `Monitor`.

    Args:
        env_id: an id, or an environment class.
        n_envs: the number of environments.
        seed: environment i is seeded by `seed + start_index + i`; None does not seed.
        start_index: the number of the first environment, for seeds and file names.
        monitor_dir: a folder for the monitors' files; None writes none.
        wrapper_class: wraps each environment, outside its monitor; it may be one of Gymnasium's,
            of a class derived from these, or a function that makes one. A function that makes one
            of Gymnasium's is called a second time, with an environment of Gymnasium's interface.
        env_kwargs: keyword arguments of the environments.
        vec_env_cls: the class of the vector; None means `DummyVecEnv`.
        vec_env_kwargs: keyword arguments of the vector.
    """
    keywords = dict(env_kwargs or {})
    if monitor_dir is not None:
        os.makedirs(monitor_dir, exist_ok=True)

    def make_env(rank: int) -> Callable[[], Any]:
        def _init() -> Any:
            made = make_by(env_id, keywords)
            path = None if monitor_dir is None else os.path.join(monitor_dir, str(rank))
            env = Monitor(made, filename=path)
            if seed is not None:
                env.seed(seed + rank)
                env.action_space.seed(seed + rank)
            return env if wrapper_class is None else _wrapped(env, wrapper_class)

        return _init

    makers = [make_env(i + start_index) for i in range(n_envs)]
    vector: Any = (vec_env_cls or DummyVecEnv)(makers, **(vec_env_kwargs or {}))
    if seed is not None:
        vector.seed(seed + start_index)
    return vector


def _wrapped(env: Any, wrapper_class: Callable[[Any], Any]) -> Any:
    """An environment in a wrapper; wrappers of Gymnasium need Gymnasium's interface.

    A function may make one, too: this is known only when it has made it.
    """
    if isinstance(wrapper_class, type) and _is_gymnasiums(wrapper_class):
        return Adapted(env, wrapper_class)
    made = wrapper_class(env)
    return Adapted(env, wrapper_class) if _is_gymnasiums(type(made)) else made


def _is_gymnasiums(kind: type) -> bool:
    """Whether this is a class of wrappers with Gymnasium's interface, not gym's."""
    return issubclass(kind, gymnasium.Wrapper) and not issubclass(kind, Env)


def make_atari_env(
    env_id: str,
    num_env: int,
    seed: int,
    wrapper_kwargs: Mapping[str, Any] | None = None,
    start_index: int = 0,
    allow_early_resets: bool = True,
    start_method: str | None = None,
    use_subprocess: bool = False,
) -> Any:
    """Make a vector of Atari games, each in a `Monitor`, with DeepMind's preprocessing.

    The global generators of Python, numpy and torch are seeded, too.

    Args:
        env_id: an id, such as `PongNoFrameskip-v4`.
        num_env: the number of environments.
        seed: environment i is seeded by `seed + start_index + i`.
        wrapper_kwargs: keyword arguments of `wrap_deepmind`.
        start_index: the number of the first environment, for seeds and file names.
        allow_early_resets: whether they may be reset in the middle of an episode.
        start_method: how worker processes are started: see `SubprocVecEnv`.
        use_subprocess: whether several environments run in worker processes.
    """

    def make_env(rank: int) -> Callable[[], Any]:
        def _thunk() -> Any:
            env: Any = make_atari(env_id)
            env.seed(seed + rank)
            env = Monitor(env, monitor_file(rank), allow_early_resets=allow_early_resets)
            return wrap_deepmind(env, **(wrapper_kwargs or {}))

        return _thunk

    set_global_seeds(seed)
    makers = [make_env(i + start_index) for i in range(num_env)]
    if num_env == 1 or not use_subprocess:
        vector: Any = DummyVecEnv(makers)
    else:
        vector = SubprocVecEnv(makers, start_method=start_method)
    vector.seed(seed + start_index)
    return vector


def make_mujoco_env(env_id: str, seed: int, allow_early_resets: bool = True) -> Any:
    """Make a seeded MuJoCo environment in a `Monitor`.

    The global generators of Python, numpy and torch are seeded, too: each rank under mpirun with a
    different number.
    """
    set_global_seeds(seed + 10000 * mpi_rank_or_zero())
    env = Monitor(make_by_id(env_id), monitor_file(0), allow_early_resets=allow_early_resets)
    env.seed(seed)
    return env


def make_robotics_env(
    env_id: str, seed: int, rank: int = 0, allow_early_resets: bool = True
) -> Any:
    """Make a seeded robot environment with goals, in a `Monitor` that logs successes.

    Desired goal and observation are concatenated, in this order. The global generators of Python,
    numpy and torch are seeded, too.

    Args:
        env_id: an id, such as `FetchReach-v4`.
        seed: the seed of the environment and the generators.
        rank: the name of the monitor's file.
        allow_early_resets: whether it may be reset in the middle of an episode.
    """
    from gymnasium.wrappers import FilterObservation, FlattenObservation

    set_global_seeds(seed)
    env = FilterObservation(make_by_id(env_id), ["observation", "desired_goal"])
    made = Monitor(
        FlattenObservation(env),
        monitor_file(rank),
        info_keywords=("is_success",),
        allow_early_resets=allow_early_resets,
    )
    made.seed(seed)
    return made


def monitor_file(rank: int) -> str | None:
    """The path for a `Monitor` in the logger's folder; None if there is no folder.

    Args:
        rank: the number of its environment, which is the name of the file.
    """
    folder = logger.get_dir()
    return os.path.join(folder, str(rank)) if folder else None


def arg_parser() -> ArgumentParser:
    """An empty argument parser whose help shows defaults."""
    return ArgumentParser(formatter_class=ArgumentDefaultsHelpFormatter)


def atari_arg_parser() -> ArgumentParser:
    """A parser with `--env`, `--seed` and `--num-timesteps`, for Atari."""
    return _with_env("BreakoutNoFrameskip-v4", int(1e7))


def mujoco_arg_parser() -> ArgumentParser:
    """A parser with `--env`, `--seed`, `--num-timesteps` and `--play`, for MuJoCo."""
    parser = _with_env("Reacher-v2", int(1e6))
    parser.add_argument("--play", default=False, action="store_true")
    return parser


def robotics_arg_parser() -> ArgumentParser:
    """A parser with `--env`, `--seed` and `--num-timesteps`, for robots with goals."""
    return _with_env("FetchReach-v0", int(1e6))


def _with_env(env_id: str, num_timesteps: int) -> ArgumentParser:
    parser = arg_parser()
    parser.add_argument("--env", help="environment ID", type=str, default=env_id)
    parser.add_argument("--seed", help="RNG seed", type=int, default=0)
    parser.add_argument("--num-timesteps", type=int, default=num_timesteps)
    return parser


__all__ = [
    "arg_parser",
    "atari_arg_parser",
    "make_atari_env",
    "make_mujoco_env",
    "make_robotics_env",
    "make_vec_env",
    "mujoco_arg_parser",
    "robotics_arg_parser",
    "set_global_seeds",
]
