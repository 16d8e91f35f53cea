"""Grey and small images, as DeepMind's preprocessing makes them (Mnih et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable

from rlk.errors import PlanError
from rlk.records import Array


def warper(width: int, height: int) -> Callable[[Array], Array]:
    """A function from RGB images [H, W, 3] to grey ones, uint8 [height, width, 1].

    It resizes by averages over areas.

    Raises:
        PlanError: if OpenCV is not installed.
    """
    try:
        import cv2
    except ImportError as error:
        install = 'pip install "rlk-baselines[atari]"'
        raise PlanError(f"WarpFrame needs OpenCV: {error}. Type: {install}") from error

    def warp(image: Array) -> Array:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        small = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
        return small[:, :, None]

    return warp
