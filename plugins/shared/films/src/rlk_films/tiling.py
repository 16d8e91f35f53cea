"""Joins several images into one, side by side and below each other, to show many environments.

N images of H rows and W columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlk.records import Array


def tiled(images: Sequence[Array]) -> Array:
    """All images in one, from left to right, then top to bottom; about as many rows as columns.

    As in `tile_images` of Stable Baselines 2.10: there are ceil(sqrt(N)) rows, and unused places
    are black.

    Args:
        images: N arrays [H, W, C], or [H, W], all of one shape and dtype; a list or an array.

    Raises:
        ValueError: if there are no images, or their shapes differ.
    """
    if len(images) == 0 or images[0] is None:
        raise ValueError("there is no image to tile. Make environments with render_mode=rgb_array.")
    shapes = {np.shape(image) for image in images}
    if len(shapes) > 1:
        raise ValueError(f"only images of the same shape can be tiled, found {sorted(shapes)}.")
    n, (height, width, *channels) = len(images), np.shape(images[0])
    rows = math.ceil(math.sqrt(n))
    columns = math.ceil(n / rows)
    stacked = np.zeros((rows * columns, height, width, *channels), np.asarray(images[0]).dtype)
    stacked[:n] = images
    table = stacked.reshape(rows, columns, height, width, *channels)
    return table.swapaxes(1, 2).reshape(rows * height, columns * width, *channels)
