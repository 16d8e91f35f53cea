"""Reads action masks from environments and vectors. Shapes: N environments, M options."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.records import Array
from rlk_baselines.common.vec_env.base_vec_env import VecEnv

EXPECTED_METHOD_NAME = "action_masks"


def get_action_masks(env: Any) -> Array:
    """The current action masks, True for allowed actions: [M], or [N, M] of a vector."""
    if isinstance(env, VecEnv):
        return np.stack(env.env_method(EXPECTED_METHOD_NAME))
    return np.asarray(env.get_wrapper_attr(EXPECTED_METHOD_NAME)())


def is_masking_supported(env: Any) -> bool:
    """Whether an environment, or every environment of a vector, has action masks."""
    if isinstance(env, VecEnv):
        return env.has_attr(EXPECTED_METHOD_NAME)
    return bool(env.has_wrapper_attr(EXPECTED_METHOD_NAME))
