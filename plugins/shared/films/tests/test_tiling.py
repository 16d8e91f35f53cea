"""Several images as one."""

from __future__ import annotations

import numpy as np
import pytest

from rlk_films import tiled


def image(value):
    return np.full((2, 2, 3), value, np.uint8)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, [[1, 1]]),
        (2, [[1, 1], [2, 2]]),
        (3, [[1, 1, 2, 2], [3, 3, 0, 0]]),
        (5, [[1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 0, 0]]),
    ],
)
def test_images_stand_from_left_to_right_in_as_many_rows_as_stable_baselines_has(n, expected):
    found = tiled([image(value + 1) for value in range(n)])
    assert found.dtype == np.uint8 and found.shape[2:] == (3,)
    assert found[::2, :, 0].tolist() == found[1::2, :, 2].tolist() == expected


def test_grey_images_are_tiled_too():
    assert tiled([np.ones((2, 2)), np.zeros((2, 2))]).tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]


def test_images_may_be_one_array():
    images = np.arange(3 * 2 * 2 * 1).reshape(3, 2, 2, 1)
    assert np.array_equal(tiled(images), tiled(list(images)))


def test_what_cannot_be_tiled_is_refused():
    for images in ([], [None, None]):
        with pytest.raises(ValueError, match="render_mode=rgb_array"):
            tiled(images)
    with pytest.raises(ValueError, match="same shape"):
        tiled([image(1), np.zeros((1, 2, 3), np.uint8)])
