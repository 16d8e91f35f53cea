"""Vector environments with the interface of Stable Baselines 2.10, and wrappers of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

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
    while isinstance(env, VecEnvWrapper):
        if isinstance(env, VecNormalize):
            return env
        env = env.venv
    return None


def sync_envs_normalization(env: Any, eval_env: Any) -> None:
    """Copy the statistics of every `VecNormalize` around one vector to those around another.

    Args:
        env: the vector that training sees.
        eval_env: the vector of an evaluation, in the same wrappers.
    """
    while isinstance(env, VecEnvWrapper) and isinstance(eval_env, VecEnvWrapper):
        if isinstance(env, VecNormalize) and isinstance(eval_env, VecNormalize):
            eval_env.obs_rms = deepcopy(env.obs_rms)
            eval_env.ret_rms = deepcopy(env.ret_rms)
        env, eval_env = env.venv, eval_env.venv
