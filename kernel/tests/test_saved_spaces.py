"""Spaces in files: as JSON, compact, and equal when they are read."""

from __future__ import annotations

import json
from collections import OrderedDict

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import BadFile
from rlk.restoring import saved_spaces
from rlk.restoring.saved_spaces import same_bounds, same_sizes, space_of, space_state

BOX = {"kind": "Box", "shape": [2], "dtype": "float32", "low": 0.0, "high": 1.0}


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-2, 3, (2,)),
        spaces.Box(np.array([-1, -np.inf]), np.array([np.inf, 2.5]), dtype=np.float64),
        spaces.Box(0, np.array([[1, 2], [1, 2]], np.float16), dtype=np.float16),
        spaces.Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (3,), np.int64),
        spaces.Box(0, 255, (84, 84, 4), np.uint8),
        spaces.Discrete(3, start=-1),
        spaces.MultiDiscrete([[3, 4], [2, 2]], start=[[0, 1], [2, 0]]),
        spaces.MultiDiscrete([3, 4], dtype=np.int32),
        spaces.MultiBinary(3),
        spaces.MultiBinary((2, 3)),
        spaces.Dict(OrderedDict(b=spaces.Box(-1, 1, (1,)), a=spaces.Discrete(2))),
    ],
)
def test_a_space_is_equal_after_a_file(space):
    text = json.dumps(space_state(space), allow_nan=False)
    read = space_of(json.loads(text))
    assert read == space and str(read) == str(space)


@pytest.mark.parametrize(
    ("space", "low", "high"),
    [
        (spaces.Box(0, 255, (84, 84, 4), np.uint8), 0, 255),
        (spaces.Box(-np.inf, np.inf, (4,)), "-inf", "inf"),
        (spaces.Box(0, np.tile(np.float32([1, 2, 3]), (84, 84, 1))), 0.0, [[[1.0, 2.0, 3.0]]]),
        (spaces.Box(np.float32([[0, 0], [5, 5]]), 9), [[0.0], [5.0]], 9.0),
    ],
)
def test_bounds_are_written_once_along_an_axis_on_which_they_are_equal(space, low, high):
    state = space_state(space)
    assert (state["low"], state["high"]) == (low, high)


def test_a_space_that_files_do_not_hold_has_no_state():
    assert space_state(spaces.Text(3)) is None
    assert space_state(spaces.Dict(text=spaces.Text(3), more=spaces.Discrete(2))) is None


def test_an_observation_of_many_small_numbers_is_read_again():
    space = spaces.MultiBinary(50 << 20)  # as large as a Box of bytes, of which none is allocated
    assert space_of(space_state(space)) == space


@pytest.mark.parametrize("space", [spaces.Box(-1, 1, (4,)), spaces.MultiBinary(16)])
def test_a_space_has_a_state_only_if_it_can_be_read_again(space, monkeypatch):
    monkeypatch.setattr(saved_spaces, "MAX_BYTES", 16)
    assert space_of(space_state(space)) == space
    monkeypatch.setattr(saved_spaces, "MAX_BYTES", 15)
    assert space_state(space) is None
    assert space_state(spaces.Dict(a=space)) is None


PAIR = [("a", spaces.Box(-1, 1, (2,))), ("b", spaces.Discrete(3))]
MANY = [3] * 1500  # Gymnasium leaves numbers in the middle out of the text of so many


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (spaces.Box(-1, 1, (2,)), spaces.Box(0, 9, (2,), np.float64), True),
        (spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (2, 1)), False),
        (spaces.Box(0, 1, (2,), np.int8), spaces.MultiBinary(2), False),
        (spaces.Discrete(3), spaces.Discrete(3, dtype=np.int32), True),
        (spaces.Discrete(3), spaces.Discrete(3, start=1), False),
        (spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([3, 4], dtype=np.int32), True),
        (spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([3, 5]), False),
        (spaces.MultiDiscrete(MANY), spaces.MultiDiscrete([*MANY[:700], 9, *MANY[701:]]), False),
        (spaces.Dict(OrderedDict(PAIR)), spaces.Dict(OrderedDict(PAIR[::-1])), True),
        (spaces.Dict(OrderedDict(PAIR)), spaces.Dict(OrderedDict(PAIR[:1])), False),
        (spaces.Dict(a=spaces.Box(-1, 1, (2,))), spaces.Dict(a=spaces.Box(-2, 2, (2,))), True),
        (spaces.Dict(a=spaces.Discrete(2)), spaces.Dict(a=spaces.Discrete(3)), False),
    ],
)
def test_spaces_of_one_size_may_differ_in_bounds_and_types_and_in_the_order_of_a_dict(
    one, other, alike
):
    assert same_sizes(one, other) is same_sizes(other, one) is alike


@pytest.mark.parametrize("infinite", [False, True])
def test_infinite_bounds_on_either_side_differ_from_finite_ones_only_if_asked(infinite):
    finite, unbounded = spaces.Box(-1, 1, (2,)), spaces.Box(-np.inf, np.inf, (2,))
    for one, other in ((finite, unbounded), (unbounded, finite)):
        assert same_bounds(one, other, infinite=infinite) is not infinite
    assert not same_bounds(finite, spaces.Box(-1, 2, (2,)), infinite=infinite)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {"kind": "Tuple"},
        BOX | {"shape": [1 << 20, 1 << 20]},
        BOX | {"shape": [-2, -1]},
        BOX | {"dtype": "O"},
        BOX | {"dtype": "int8", "high": 1000},
        BOX | {"low": [0, 0, 0]},
        BOX | {"low": 2.0},
        BOX | {"high": "wide"},
        {"kind": "Discrete", "n": -1, "start": 0},
        {"kind": "Discrete", "n": 10**30, "start": 0},
        {"kind": "MultiDiscrete", "dtype": "int64", "nvec": [0], "start": [0]},
        {"kind": "MultiBinary", "n": 1 << 40},
        {"kind": "Dict", "parts": {"a": None}},
    ],
)
def test_a_damaged_space_is_refused(state):
    with pytest.raises(BadFile, match="a saved space is damaged"):
        space_of(state)
