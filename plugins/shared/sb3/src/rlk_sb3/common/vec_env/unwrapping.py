"""Finds wrappers around a vector."""

from __future__ import annotations

from typing import TypeVar

from rlk_baselines.common.vec_env import VecEnvWrapper, layers
from rlk_baselines.common.vec_env.base_vec_env import VecEnv

Wrapper = TypeVar("Wrapper", bound=VecEnvWrapper)


def unwrap_vec_wrapper(env: VecEnv, vec_wrapper_class: type[Wrapper]) -> Wrapper | None:
    """The outermost wrapper of a class around a vector, or None."""
    for layer in layers(env):
        if isinstance(layer, VecEnvWrapper) and isinstance(layer, vec_wrapper_class):
            return layer
    return None


def is_vecenv_wrapped(env: VecEnv, vec_wrapper_class: type[VecEnvWrapper]) -> bool:
    """Whether a vector is in a wrapper of a class."""
    return unwrap_vec_wrapper(env, vec_wrapper_class) is not None
