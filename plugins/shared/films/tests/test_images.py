"""What `render()` returns, as a frame of a film."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_films import as_image


@pytest.mark.parametrize("shape", [(6, 8), (6, 8, 1), (6, 8, 3), (6, 8, 4)])
def test_grey_images_become_coloured_and_transparency_is_dropped(shape: tuple[int, ...]) -> None:
    frame = as_image(np.full(shape, 7, np.uint8), "it", "leave it out")
    assert (frame.shape, frame.dtype, set(frame.ravel())) == ((6, 8, 3), np.uint8, {7})


@pytest.mark.parametrize(
    ("rendered", "told"),
    [
        (np.zeros((6, 8, 3)), r"it rendered float64 \[6, 8, 3\], and a film takes .*leave it out"),
        (np.zeros((6, 8, 3), np.int64), r"int64 \[6, 8, 3\]"),
        (np.zeros((6, 8, 2), np.uint8), r"uint8 \[6, 8, 2\]"),
        (np.zeros((0, 8, 3), np.uint8), r"uint8 \[0, 8, 3\]"),
        ([np.zeros((6, 8, 3), np.uint8)], "rendered list"),
        (None, "rendered NoneType"),
    ],
)
def test_what_is_no_image_is_named(rendered: Any, told: str) -> None:
    with pytest.raises(RlkError, match=told):
        as_image(rendered, "it", "leave it out")
