"""Vector environments with the interface of Stable Baselines 2.10, and wrappers of them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import zip_longest
from typing import Any

from rlk.program_warnings import warn_program
from rlk_baselines.common.vec_env.base_vec_env import (
    AlreadySteppingError,
    CloudpickleWrapper,
    NotSteppingError,
    VecEnv,
    VecEnvWrapper,
)
from rlk_baselines.common.vec_env.dummy_vec_env import DummyVecEnv
from rlk_baselines.common.vec_env.subproc_vec_env import SubprocVecEnv
from rlk_baselines.common.vec_env.vec_check_nan import VecCheckNan
from rlk_baselines.common.vec_env.vec_frame_stack import VecFrameStack
from rlk_baselines.common.vec_env.vec_normalize import VecNormalize
from rlk_baselines.common.vec_env.vec_video_recorder import VecVideoRecorder

__all__ = [
    "AlreadySteppingError",
    "CloudpickleWrapper",
    "DummyVecEnv",
    "NotSteppingError",
    "SubprocVecEnv",
    "VecCheckNan",
    "VecEnv",
    "VecEnvWrapper",
    "VecFrameStack",
    "VecNormalize",
    "VecVideoRecorder",
    "sync_envs_normalization",
    "unwrap_vec_normalize",
]


def unwrap_vec_normalize(env: Any) -> VecNormalize | None:
    """The outermost `VecNormalize` around an environment, or None."""
    return next((layer for layer in layers(env) if isinstance(layer, VecNormalize)), None)


def sync_envs_normalization(env: Any, eval_env: Any) -> None:
    """Copy the statistics of every `VecNormalize` around one vector to those around another.

    Args:
        env: the vector that the model trains in.
        eval_env: the vector of an evaluation, in the same wrappers.

    Raises:
        AssertionError: if `eval_env` has no `VecNormalize` where `env` has one.
    """
    pairs = list(zip_longest(layers(env), layers(eval_env)))
    for own, other in pairs:
        if isinstance(own, VecNormalize) and not isinstance(other, VecNormalize):
            raise AssertionError(
                f"training sees its environments through {wrapping(env)}, and the evaluation sees "
                f"them through {wrapping(eval_env)}: there is no VecNormalize to copy the "
                "statistics to. Put the environments of the evaluation into the same wrappers: "
                "VecNormalize(eval_env, training=False, norm_reward=False)."
            )
    for own, other in pairs:
        if isinstance(own, VecNormalize):
            other.obs_rms, other.ret_rms = deepcopy(own.obs_rms), deepcopy(own.ret_rms)


def warn_of_other_wrappers(env: Any, eval_env: Any) -> None:
    """Warn if the wrappers of the training and the evaluation environments differ."""
    types = wrapping(env), wrapping(eval_env)
    if types[0] != types[1]:
        warn_program(f"Training and eval env are not of the same type: {types[0]} != {types[1]}")


def layers(env: Any) -> Iterator[Any]:
    """A vector and the vectors that it wraps, the outermost first."""
    while isinstance(env, VecEnvWrapper):
        yield env
        env = env.venv
    yield env


def wrapping(env: Any) -> str:
    """The class names of a vector and of the vectors that it wraps, the outermost first."""
    return " of ".join(type(layer).__name__ for layer in layers(env))
