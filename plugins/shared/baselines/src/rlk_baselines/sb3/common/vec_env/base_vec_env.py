"""The interface of vectors, and the base class of their wrappers."""

from rlk_baselines.common.tile_images import tile_images
from rlk_baselines.common.vec_env.base_vec_env import (
    AlreadySteppingError,
    CloudpickleWrapper,
    NotSteppingError,
    VecEnv,
    VecEnvWrapper,
)

__all__ = [
    "AlreadySteppingError",
    "CloudpickleWrapper",
    "NotSteppingError",
    "VecEnv",
    "VecEnvWrapper",
    "tile_images",
]
