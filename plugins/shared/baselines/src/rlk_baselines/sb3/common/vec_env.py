"""Vector environments: those of `rlk_baselines.common.vec_env`, whose interface is the same."""

from rlk_baselines.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecNormalize,
    VecVideoRecorder,
    sync_envs_normalization,
    unwrap_vec_normalize,
)

__all__ = [
    "DummyVecEnv",
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
