"""Arguments of vector environments: indices, and those of a reset."""

from __future__ import annotations

import numpy as np
import pytest

from rlk_vector_environments.arguments import resolve_indices, resolve_reset


@pytest.mark.parametrize(
    ("indices", "chosen"),
    [
        (None, [0, 1, 2, 3]),
        (2, [2]),
        (-1, [3]),
        (np.int64(1), [1]),
        ([3, -4, 3], [3, 0, 3]),
        (np.array([1, 2], np.uint8), [1, 2]),
        (range(2), [0, 1]),
    ],
)
def test_one_index_and_several_are_taken(indices, chosen):
    found = resolve_indices(4, indices)
    assert found == chosen and all(type(index) is int for index in found)


@pytest.mark.parametrize("indices", [4, [0, -5]])
def test_an_index_that_does_not_exist_is_named(indices):
    with pytest.raises(IndexError, match=r"no environment (4|-5): they are 0 to 3"):
        resolve_indices(4, indices)


@pytest.mark.parametrize(
    ("indices", "found"),
    [
        ([1.0], r"got 1.0 \(float\)"),
        (np.array([0.0, 1.0]), r"got .*0.0.* \(float64\)"),
        ("1", r"got '1' \(str\)"),
        ([False, True], r"got False. For a mask, give np.flatnonzero\(mask\)"),
        (np.array([False, False, True, True]), "got False. For a mask"),
    ],
)
def test_what_is_no_whole_number_is_refused(indices, found):
    with pytest.raises(TypeError, match=f"is a whole number, {found}"):
        resolve_indices(4, indices)


def test_the_mask_of_a_reset_is_kept_from_the_environments_and_other_options_are_not():
    given = {"reset_mask": np.array([False, True]), "level": 3}
    assert resolve_reset(2, None, given) == ([None, None], [1], {"level": 3})
    assert set(given) == {"reset_mask", "level"}
