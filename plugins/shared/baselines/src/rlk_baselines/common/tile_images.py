"""Several images as one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlk.records import Array


def tile_images(images: Sequence[Array]) -> Array:
    """Images beside and below each other, in rows as long as they are many.

    Args:
        images: N of [H, W, C].

    Returns:
        [rows H, columns W, C]; places that are left over are black.
    """
    found = np.asarray(images)
    n, height, width, channels = found.shape
    rows = math.ceil(math.sqrt(n))
    columns = math.ceil(n / rows)
    whole = np.zeros((rows * columns, height, width, channels), found.dtype)
    whole[:n] = found
    grid = whole.reshape(rows, columns, height, width, channels)
    tiled: Array = grid.swapaxes(1, 2).reshape(rows * height, columns * width, channels)
    return tiled
