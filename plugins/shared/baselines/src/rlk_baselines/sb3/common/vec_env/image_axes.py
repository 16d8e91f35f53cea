"""Which axis of an image holds its channels."""

from __future__ import annotations

from typing import Any

from rlk.spaces import channels_first, is_image


def has_channels_first(space: Any) -> bool:
    """Whether a space holds images whose channels are on the first axis."""
    return is_image(space) and channels_first(space.shape)
