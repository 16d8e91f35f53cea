"""Converts channels-last images for models that learn from channels-first ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.spaces import is_image


def channels_first(observation: Any, space: Any) -> Any:
    """An observation, or a batch of them, with images in the order of axes of their space.

    Args:
        observation: an observation of the space, or one with images [..., H, W, C] instead of
            [..., C, H, W].
        space: the space of one observation.
    """
    if isinstance(space, spaces.Dict) and isinstance(observation, Mapping):
        parts = space.spaces
        return {k: channels_first(v, parts[k]) if k in parts else v for k, v in observation.items()}
    if not is_image(space):
        return observation
    image = np.asarray(observation)
    turned = np.moveaxis(image, -1, -3) if image.ndim >= 3 else image
    fits = image.shape[-3:] != space.shape and turned.shape[-3:] == space.shape
    return turned if fits else observation
