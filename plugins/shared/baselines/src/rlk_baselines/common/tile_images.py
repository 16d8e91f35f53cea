"""Several images as one."""

from __future__ import annotations

from collections.abc import Sequence

from rlk.records import Array
from rlk_films import tiled


def tile_images(images: Sequence[Array]) -> Array:
    """Images [H, W, C] beside and below each other; places that are left over are black."""
    return tiled(images)
