"""Frames of several environments in one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlk.records import Array


def tiled(frames: Sequence[Array]) -> Array:
    """Frames [height, width, channels] side by side, as nearly a square as they fill.

    The first stands at the top left, and black is where there is none. Smaller ones than the
    largest stand at the top left of their place.

    Raises:
        ValueError: if there is no frame.
    """
    if not frames:
        raise ValueError("there is no frame to show")
    if len(frames) == 1:
        return np.asarray(frames[0])
    rows = math.isqrt(len(frames) - 1) + 1
    columns = math.ceil(len(frames) / rows)
    height, width = (max(frame.shape[axis] for frame in frames) for axis in (0, 1))
    picture = np.zeros((rows * height, columns * width, *frames[0].shape[2:]), frames[0].dtype)
    for number, frame in enumerate(frames):
        top, left = number // columns * height, number % columns * width
        picture[top : top + frame.shape[0], left : left + frame.shape[1]] = frame
    return picture
