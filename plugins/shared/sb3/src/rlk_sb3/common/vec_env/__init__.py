"""Vector environments: those of `rlk_baselines.common.vec_env`, which have the same interface.

The wrappers in this folder are those that only Stable-Baselines3 has, or that differ there.
"""

from rlk_baselines.common.vec_env import (
    CloudpickleWrapper,
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecNormalize,
    VecVideoRecorder,
    sync_envs_normalization,
    unwrap_vec_normalize,
)
from rlk_sb3.common.vec_env.stacked_observations import StackedObservations
from rlk_sb3.common.vec_env.unwrapping import is_vecenv_wrapped, unwrap_vec_wrapper
from rlk_sb3.common.vec_env.vec_extract_dict_obs import VecExtractDictObs
from rlk_sb3.common.vec_env.vec_frame_stack import VecFrameStack
from rlk_sb3.common.vec_env.vec_monitor import VecMonitor
from rlk_sb3.common.vec_env.vec_transpose import VecTransposeImage

__all__ = [
    "CloudpickleWrapper",
    "DummyVecEnv",
    "StackedObservations",
    "SubprocVecEnv",
    "VecCheckNan",
    "VecEnv",
    "VecEnvWrapper",
    "VecExtractDictObs",
    "VecFrameStack",
    "VecMonitor",
    "VecNormalize",
    "VecTransposeImage",
    "VecVideoRecorder",
    "is_vecenv_wrapped",
    "sync_envs_normalization",
    "unwrap_vec_normalize",
    "unwrap_vec_wrapper",
]
