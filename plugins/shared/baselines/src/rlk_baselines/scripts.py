"""Shared parts of the training scripts, such as `python -m rlk_baselines.ppo2.run_atari`.

Each script trains one model with the settings of Stable Baselines' script of the same name; `-h`
lists its options. Under `mpirun`, models that support MPI train together.
"""

from __future__ import annotations

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
    monitor_file,
    mujoco_arg_parser,
)
from rlk_baselines.common.misc_util import mpi_rank_or_zero
from rlk_baselines.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
from rlk_baselines.environments.as_vec_env import as_vec_env

#: The choices of `--policy`, and their policies.
POLICIES = {
    "cnn": "CnnPolicy",
    "lstm": "CnnLstmPolicy",
    "lnlstm": "CnnLnLstmPolicy",
    "mlp": "MlpPolicy",
}


def begin(parser: ArgumentParser, argv: Sequence[str] | None) -> Namespace:
    """Parse the arguments of a script, and configure the logger on rank 0.

    Args:
        parser: the parser of the script's options; `--logdir` is the logger's folder.
        argv: the arguments after the script's name; None means those of this process.
    """
    options = parser.parse_args(argv)
    if is_first_rank():
        logger.configure(getattr(options, "logdir", None))
    return options


def is_first_rank() -> bool:
    """Whether this process is rank 0 under mpirun, or runs alone."""
    return mpi_rank_or_zero() == 0


def atari(
    model: type, argv: Sequence[str] | None = None, *, policies: Sequence[str] = (), **settings: Any
) -> Any:
    """Train a model on one Atari game, without stacking frames.

    Args:
        model: the class of the model.
        argv: as in `begin`.
        policies: the choices of `--policy`, the first of which is the default; if there are none,
            there is no such option.
        settings: keyword arguments of the model.
    """
    options = begin(_with_policies(atari_arg_parser(), policies), argv)
    env = Monitor(make_atari(options.env), monitor_file(0))
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
    """Train a model on a vector of Atari games, with four stacked frames.

    Args:
        model: the class of the model.
        argv: as in `begin`.
        n_envs: the number of environments.
        policies, schedules: the choices of `--policy` and `--lr_schedule`, the default first.
        longer: a factor for `--num-timesteps`.
        settings: keyword arguments of the model.
    """
    parser = _with_policies(atari_arg_parser(), policies)
    if schedules:
        parser.add_argument("--lr_schedule", choices=schedules, default=schedules[0])
    parser.add_argument("--logdir", help="the folder for rows of metrics")
    options = begin(parser, argv)
    if schedules:
        settings = {**settings, "lr_schedule": options.lr_schedule}
    env = VecFrameStack(make_atari_env(options.env, n_envs, options.seed), 4)
    return _learnt(model, env, options, settings, longer)


def mujoco(
    model: type, argv: Sequence[str] | None = None, *, normalizes: bool = False, **settings: Any
) -> Any:
    """Train a model on a MuJoCo robot, and show it if `--play` is given.

    Args:
        model: the class of the model.
        argv: as in `begin`.
        normalizes: whether to normalise observations and rewards.
        settings: keyword arguments of the model.
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
    """Show a model without recurrence in a window, until the program is interrupted."""
    env = as_vec_env(model.get_env())
    observation = env.reset()
    while True:
        action, _ = model.predict(observation)
        observation, *_ = env.step(action)  # the vector resets itself
        env.render("human")


def _with_policies(parser: ArgumentParser, policies: Sequence[str]) -> ArgumentParser:
    if policies:
        parser.add_argument("--policy", choices=policies, default=policies[0])
    return parser


def _learnt(
    model: Any, env: Any, options: Namespace, settings: Mapping[str, Any], longer: float = 1.0
) -> Any:
    """Make a model and train it; its policy is that of `settings`, or else `--policy`."""
    policy = settings.get("policy") or POLICIES[getattr(options, "policy", "cnn")]
    given = {"seed": options.seed, "verbose": 1, **settings, "policy": policy}
    return model(env=env, **given).learn(int(options.num_timesteps * longer))
