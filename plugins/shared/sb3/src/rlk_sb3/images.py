"""Converts channels-last images for models that learn from channels-first ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.spaces import is_image
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_sb3.common.vec_env.vec_transpose import VecTransposeImage


def channels_first(observation: Any, observation_space: Any) -> Any:
    """An observation, or a batch of them, with images in the order of axes of their space.

    Args:
        observation: an observation of the space, or one with images [..., H, W, C] instead of
            [..., C, H, W].
        observation_space: the space of one observation.
    """
    space = observation_space
    if isinstance(space, spaces.Dict) and isinstance(observation, Mapping):
        parts = space.spaces
        return {k: channels_first(v, parts[k]) if k in parts else v for k, v in observation.items()}
    if not is_image(space):
        return observation
    image = np.asarray(observation)
    turned = np.moveaxis(image, -1, -3) if image.ndim >= 3 else image
    fits = image.shape[-3:] != space.shape and turned.shape[-3:] == space.shape
    return turned if fits else observation


def turned_to(space: Any, env: Any) -> Any:
    """An environment, in a `VecTransposeImage` if its images have the channels of a space last.

    Args:
        space: of a model's observations.
        env: an environment or a vector.
    """
    if env is None or not (is_image(space) or isinstance(space, spaces.Dict)):
        return env
    vector = as_vec_env(env)
    if vector.observation_space == space:
        return env
    try:
        turned = VecTransposeImage(vector)
    except PlanError:  # these are no images, or have channels first
        return env
    return turned if turned.observation_space == space else env


def is_scaled(space: Any, *, is_cnn: bool) -> bool:
    """Whether rlk's policy scales the observations, so that `normalize_images` matters.

    Args:
        space: of one observation.
        is_cnn: whether the policy is a CNN, which also scales floats.
    """
    if isinstance(space, spaces.Dict):
        return any(is_scaled(part, is_cnn=is_cnn) for part in space.spaces.values())
    if is_cnn and isinstance(space, spaces.Box):
        return not bool(np.all(space.low == 0) and np.all(space.high == 1))
    return space is not None and is_image(space)
