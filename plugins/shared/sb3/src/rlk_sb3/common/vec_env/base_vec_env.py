"""The interface of vectors, and the base class of their wrappers."""

from collections.abc import Iterable
from typing import Any

from rlk.records import Array
from rlk_baselines.common.tile_images import tile_images
from rlk_baselines.common.vec_env.base_vec_env import (
    AlreadySteppingError,
    CloudpickleWrapper,
    NotSteppingError,
    VecEnv,
    VecEnvWrapper,
)

VecEnvIndices = None | int | Iterable[int]
VecEnvObs = Array | dict[str, Array] | tuple[Array, ...]
VecEnvStepReturn = tuple[VecEnvObs, Array, Array, list[dict[str, Any]]]

__all__ = [
    "AlreadySteppingError",
    "CloudpickleWrapper",
    "NotSteppingError",
    "VecEnv",
    "VecEnvIndices",
    "VecEnvObs",
    "VecEnvStepReturn",
    "VecEnvWrapper",
    "tile_images",
]
