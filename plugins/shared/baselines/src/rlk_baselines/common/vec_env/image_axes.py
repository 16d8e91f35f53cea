"""The order of the axes of images: channels first or last."""

from __future__ import annotations

from typing import Any

from rlk.spaces import channels_first, is_image


def has_channels_first(space: Any) -> bool:
    """Whether a space has channels-first images, [C, H, W]."""
    return is_image(space) and channels_first(space.shape)
