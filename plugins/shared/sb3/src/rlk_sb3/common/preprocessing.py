"""Shapes and preprocessing of observations and actions, for custom networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.spaces import is_image
from rlk_baselines.common.vec_env.image_axes import has_channels_first
from rlk_networks import flat_size
from rlk_networks.observations import preprocess
from rlk_sb3.images import channels_first as maybe_transpose

__all__ = [
    "check_for_nested_spaces",
    "get_action_dim",
    "get_flattened_obs_dim",
    "get_obs_shape",
    "is_image_space",
    "is_image_space_channels_first",
    "maybe_transpose",
    "preprocess_obs",
]


def is_image_space(
    observation_space: Any, check_channels: bool = False, normalized_image: bool = False
) -> bool:
    """Whether observations are images with integers from 0 to 255.

    Args:
        observation_space: the space.
        check_channels: whether images must have 1, 3 or 4 channels.
        normalized_image: whether any Box with three axes counts as a space of images.
    """
    shape: tuple[int, ...] = getattr(observation_space, "shape", None) or ()
    any_box = normalized_image and isinstance(observation_space, spaces.Box) and len(shape) == 3
    if not any_box and not is_image(observation_space):
        return False
    channels = shape[0] if int(np.argmin(shape)) == 0 else shape[-1]
    return not check_channels or channels in (1, 3, 4)


def is_image_space_channels_first(observation_space: Any) -> bool:
    """Whether images are channels-first: their first axis is the smallest."""
    return has_channels_first(observation_space)


def preprocess_obs(obs: Any, observation_space: Any, normalize_images: bool = True) -> Any:
    """Convert observations [B, ...], a tensor or a dict of them, for an encoder.

    Images become floats from 0 to 1, discrete observations become one-hot, all others floats.

    Args:
        obs: tensors, with values as the environment returns them.
        observation_space: the space of one observation.
        normalize_images: whether to divide images by 255.
    """
    if isinstance(observation_space, spaces.Dict):
        parts = observation_space.spaces
        return {k: preprocess_obs(one, parts[k], normalize_images) for k, one in obs.items()}
    if not normalize_images and is_image(observation_space):
        return obs.float()
    return preprocess(observation_space)(obs)


def get_obs_shape(observation_space: Any) -> Any:
    """The shape of an observation: (1,) for a Discrete, and a dict of shapes for a Dict.

    Raises:
        PlanError: if the space has no shape.
    """
    if isinstance(observation_space, spaces.Dict):
        return {key: get_obs_shape(part) for key, part in observation_space.spaces.items()}
    if isinstance(observation_space, spaces.Discrete):
        return (1,)
    if observation_space.shape is None:
        raise PlanError(f"observations of {observation_space} have no shape.")
    return tuple(observation_space.shape)


def get_flattened_obs_dim(observation_space: Any) -> int:
    """The number of elements of a preprocessed observation."""
    return flat_size(observation_space)


def get_action_dim(action_space: Any) -> int:
    """The number of elements of an action; PlanError if the space has no shape."""
    if action_space.shape is None:
        raise PlanError(f"actions of {action_space} have no shape.")
    return math.prod(action_space.shape)


def check_for_nested_spaces(obs_space: Any) -> None:
    """Raise PlanError if a Dict or Tuple contains another Dict or Tuple."""
    several = (spaces.Dict, spaces.Tuple)
    if isinstance(obs_space, several):
        parts: Any = obs_space.spaces
        found = parts.values() if isinstance(obs_space, spaces.Dict) else parts
        if nested := [part for part in found if isinstance(part, several)]:
            raise PlanError(f"parts of observations have no parts of their own, got {nested[0]}.")
