"""Which axis of an image holds its channels, as Stable-Baselines3 finds out."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.spaces import is_image


def has_channels_first(space: Any) -> bool:
    """Whether a space holds images whose smallest axis, which is that of the channels, is first."""
    return is_image(space) and int(np.argmin(space.shape)) == 0
