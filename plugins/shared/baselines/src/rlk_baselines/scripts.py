"""What `python -m rlk_baselines.ppo2.run_atari` and the like have in common.

Each of them trains one model with the settings of Stable Baselines' script of that name; `-h` lists
its options. Under `mpirun`, the models that train over MPI learn together.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from rlk_baselines import logger
from rlk_baselines.bench import Monitor
from rlk_baselines.common.atari_wrappers import make_atari, wrap_deepmind
from rlk_baselines.common.cmd_util import (
    atari_arg_parser,
    make_atari_env,
    make_mujoco_env,
    mujoco_arg_parser,
)
from rlk_baselines.common.misc_util import mpi_rank_or_zero
from rlk_baselines.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
from rlk_baselines.environments.as_vec_env import as_vec_env

#: What `--policy` may be.
POLICIES = {
    "cnn": "CnnPolicy",
    "lstm": "CnnLstmPolicy",
    "lnlstm": "CnnLnLstmPolicy",
    "mlp": "MlpPolicy",
}


def begin(
    parser: ArgumentParser, argv: Sequence[str] | None, folder: str | None = None
) -> Namespace:
    """The arguments of a script, whose rows are printed and written from now on, by one rank.

    Args:
        parser: of its options.
        argv: what was typed after its name; None is that of this process.
        folder: the option with a folder for rows; None leaves it to `logger.configure`.
    """
    options = parser.parse_args(argv)
    if is_first_rank():
        logger.configure(getattr(options, folder) if folder else None)
    return options


def is_first_rank() -> bool:
    """Whether this process is rank 0 of mpirun, or alone."""
    return mpi_rank_or_zero() == 0


def atari(
    model: type, argv: Sequence[str] | None = None, *, policies: Sequence[str] = (), **settings: Any
) -> Any:
    """Train a model on one game of Atari, whose frames are not stacked.

    Args:
        model: the class of the model. argv: as of `begin`.
        policies: choices of `--policy`, the first is the default; none has no such option.
        settings: of the model.
    """
    options = begin(_with_policies(atari_arg_parser(), policies), argv)
    env = Monitor(make_atari(options.env), monitor_file())
    return _learnt(model, wrap_deepmind(env), options, settings)


def atari_vector(
    model: type,
    argv: Sequence[str] | None = None,
    *,
    n_envs: int,
    policies: Sequence[str] = ("cnn",),
    schedules: Sequence[str] = (),
    longer: float = 1.1,
    **settings: Any,
) -> Any:
    """Train a model on several games of Atari at once, four frames of each together.

    Args:
        model: the class of the model. argv: as of `begin`.
        n_envs: how many games.
        policies, schedules: choices of `--policy` and `--lr_schedule`, the first is the default.
        longer: it learns for `--num-timesteps` times this.
        settings: of the model.
    """
    parser = _with_policies(atari_arg_parser(), policies)
    if schedules:
        parser.add_argument("--lr_schedule", choices=schedules, default=schedules[0])
    parser.add_argument("--logdir", help="the folder for rows of metrics")
    options = begin(parser, argv, "logdir")
    if schedules:
        settings = {**settings, "lr_schedule": options.lr_schedule}
    env = VecFrameStack(make_atari_env(options.env, n_envs, options.seed), 4)
    return _learnt(model, env, options, settings, longer)


def mujoco(
    model: type, argv: Sequence[str] | None = None, *, normalizes: bool = False, **settings: Any
) -> Any:
    """Train a model on a robot of MuJoCo, and show it if `--play` is given.

    Args:
        model: the class of the model. argv: as of `begin`.
        normalizes: whether observations and rewards are normalised.
        settings: of the model.
    """
    options = begin(mujoco_arg_parser(), argv)
    env = make_mujoco_env(options.env, options.seed)
    if normalizes:
        env = VecNormalize(DummyVecEnv([lambda: env]))
    trained = _learnt(model, env, options, settings)
    if options.play and is_first_rank():
        play(trained)
    return trained


def play(model: Any) -> NoReturn:
    """Show a model that remembers nothing in a window until it is interrupted."""
    env = as_vec_env(model.get_env())
    observation = env.reset()
    while True:
        action, _ = model.predict(observation)
        observation, *_ = env.step(action)  # episodes begin anew by themselves
        env.render()


def monitor_file() -> str | None:
    """Where this process's `Monitor` writes, if rows are written."""
    folder = logger.get_dir()
    return os.path.join(folder, "0") if folder else None


def _with_policies(parser: ArgumentParser, policies: Sequence[str]) -> ArgumentParser:
    if policies:
        parser.add_argument("--policy", choices=policies, default=policies[0])
    return parser


def _learnt(
    model: Any, env: Any, options: Namespace, settings: Mapping[str, Any], longer: float = 1.0
) -> Any:
    """A model that has learnt; `--policy`, where there is one, is its policy."""
    policy = settings.get("policy") or POLICIES[getattr(options, "policy", "cnn")]
    given = {"seed": options.seed, "verbose": 1, **settings, "policy": policy}
    return model(env=env, **given).learn(int(options.num_timesteps * longer))
