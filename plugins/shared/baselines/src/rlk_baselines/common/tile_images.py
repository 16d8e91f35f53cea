"""Several images as one."""

from __future__ import annotations

from collections.abc import Sequence

from rlk.records import Array
from rlk_films import tiled


def tile_images(img_nhwc: Sequence[Array]) -> Array:
    """Arrange images [H, W, C] in a grid, as one image; empty cells are black."""
    return tiled(img_nhwc)
