"""Masks by hand: where they stand, how long they are, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_action_masking.masks import (
    empty_mask_check,
    mask_check,
    observation_with_mask,
    options,
    with_mask,
    without_mask,
)

BOX = spaces.Box(-1.0, 1.0, (2,), np.float32)
SWITCHES = spaces.MultiBinary(2)


@pytest.mark.parametrize(
    ("space", "sizes"),
    [
        (spaces.Discrete(4, start=3), [4]),
        (spaces.MultiDiscrete([2, 3]), [2, 3]),
        (spaces.MultiDiscrete(np.array([[2, 3], [4, 2]])), [2, 3, 4, 2]),
        (SWITCHES, [2, 2]),
        (spaces.MultiBinary((2, 2)), [2, 2, 2, 2]),
    ],
)
def test_every_choice_has_its_options(space, sizes):
    assert options(space) == sizes


def test_actions_that_cannot_be_counted_take_no_masks():
    with pytest.raises(PlanError, match=r"Box.*Leave out --plugin action-masking"):
        options(BOX)


def test_a_mask_stands_beside_the_observation_and_comes_out_again():
    found = with_mask(BOX, spaces.Discrete(3))
    assert dict(found) == {"observation": BOX, "action_mask": spaces.MultiBinary(3)}
    assert without_mask(found) == BOX
    seen = np.ones(2, np.float32)
    assert found.contains(observation_with_mask(seen, np.array([1, 0, 1], np.int8)))


def test_a_mask_is_one_more_key_of_a_dict():
    parts = spaces.Dict({"observation": BOX, "room": spaces.Discrete(4)})
    found = with_mask(parts, SWITCHES)
    assert dict(found) == {**parts, "action_mask": spaces.MultiBinary(4)}
    assert without_mask(found) == parts


def test_a_key_of_that_name_is_not_overwritten():
    with pytest.raises(PlanError, match="no:action-masks"):
        with_mask(spaces.Dict({"action_mask": BOX}), spaces.Discrete(3))


@pytest.mark.parametrize("space", [BOX, spaces.Dict({"place": BOX})])
def test_where_there_is_no_mask_there_is_none_to_take_out(space):
    assert without_mask(space) is None


@pytest.mark.parametrize(
    "given",
    [
        np.array([True, False, True]),
        np.array([1, 0, 1], np.int8),
        [True, False, True],
        (1, 0, 1),
        np.array([1.0, 0.0, 1.0]),
        np.array([True, True, False, False, True, True])[::2],
    ],
)
def test_masks_are_booleans_in_any_form(given):
    found = mask_check(spaces.Discrete(3))(given)
    assert found.dtype == np.int8 and found.tolist() == [1, 0, 1]


def test_a_mask_is_a_copy_that_may_be_written_to():
    given = np.array([True, False, True])
    found = mask_check(spaces.Discrete(3))(given)
    given[:] = True
    assert found.tolist() == [1, 0, 1]
    found[0] = 0


def test_the_rows_of_a_table_stand_one_after_the_other():
    found = mask_check(SWITCHES)(np.array([[True, False], [True, True]]))
    assert found.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True, True], "returned 2 numbers, but Discrete.3. has 3 options"),
        ([True] * 4, "returned 4 numbers"),
        ([0.5, 1.0, 1.0], "float64 .*not booleans"),
        ([np.nan, 1.0, 1.0], "float64 .*not booleans"),
        ([0, 2, 1], "int64 .*not booleans"),
        (None, "not booleans"),
        ([False] * 3, "allows no action, and the episode has not ended"),
    ],
)
def test_what_is_no_mask_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        mask_check(spaces.Discrete(3))(given)


@pytest.mark.parametrize("whole", [list, np.array])
def test_one_array_for_each_choice_is_refused_and_the_layout_is_told(whole):
    given = [whole([True, False]), whole([True, True, False])]
    layout = r"not one array of booleans.*for MultiDiscrete .*one choice after the other"
    with pytest.raises(ValueError, match=r"^action_masks\(\) returned .*" + layout):
        mask_check(spaces.MultiDiscrete([2, 3]))(given)


@pytest.mark.parametrize(
    ("space", "mask", "choice"),
    [
        (spaces.MultiDiscrete([2, 3]), [1, 1, 0, 0, 0], "choice 1 of 2"),
        (spaces.MultiDiscrete([2, 3]), [0, 0, 0, 0, 1], "choice 0 of 2"),
        (SWITCHES, [1, 0, 0, 0], "choice 1 of 2"),
    ],
)
def test_every_choice_must_have_something_left(space, mask, choice):
    with pytest.raises(ValueError, match=f"nothing for {choice}"):
        mask_check(space)(mask)


def test_what_an_episode_ended_on_may_allow_nothing():
    assert mask_check(spaces.Discrete(2))([False, False], may_be_empty=True).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("space", "masks", "told"),
    [
        (spaces.Discrete(3), [[0, 1, 0], [0, 0, 0]], r"'action_mask' \(row 1\) allows no action"),
        (spaces.MultiDiscrete([2, 3]), [[1, 1, 0, 0, 0]], r"\(row 0\) allows nothing .* 1 of 2"),
        (SWITCHES, [[0, 0, 1, 0]], r"allows nothing for choice 0 of 2, .* does nothing\.$"),
    ],
)
def test_observations_whose_mask_allows_nothing_are_refused(space, masks, told):
    check = empty_mask_check(space)
    check({"action_mask": np.ones_like(masks)})
    with pytest.raises(ValueError, match=told):
        check({"action_mask": np.array(masks)})
