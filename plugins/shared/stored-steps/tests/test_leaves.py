"""The arrays of observations and actions, and what a step must bring along."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import RlkError
from rlk.records import Field, Step
from rlk_stored_steps.checks import final_observation, missing_extra
from rlk_stored_steps.leaves import (
    Leaf,
    action_field,
    observation_leaves,
    observation_of,
    values_of,
)

PLACE = spaces.Dict(
    place=spaces.Box(-1.0, 1.0, (2, 3), np.float64), room=spaces.Discrete(4, start=1)
)


def test_float64_becomes_float32_and_other_types_stay():
    (leaf,) = observation_leaves(spaces.Box(0, 255, (4, 4, 1), np.uint8), "mine")
    assert leaf == Leaf(None, (4, 4, 1), np.dtype(np.uint8))
    assert (leaf.name, leaf.size) == ("observation", 16)
    place, room = observation_leaves(PLACE, "mine")
    assert place == Leaf("place", (2, 3), np.dtype(np.float32)) and place.size == 24
    assert room == Leaf("room", (), np.dtype(np.int64)) and room.name == "observation.room"


@pytest.mark.parametrize(
    ("given", "kept"), [(np.float64, np.float32), (np.int32, np.int32), (np.longdouble, np.float32)]
)
def test_bytes_are_kept_in_the_order_of_this_machine(given: type, kept: type):
    other_order = np.dtype(given).newbyteorder()
    (leaf,) = observation_leaves(spaces.Box(-9, 9, (4,), other_order), "mine")
    assert leaf.dtype.isnative and leaf.dtype == kept


def test_an_observation_and_its_arrays_are_turned_into_each_other():
    leaves = observation_leaves(PLACE, "mine")
    observation = {"room": np.array([1]), "place": np.zeros((1, 2, 3))}
    values = values_of(leaves, observation)
    assert values[0] is observation["place"] and values[1] is observation["room"]
    assert list(observation_of(leaves, values)) == ["place", "room"]
    array = np.zeros(3)
    leaves = observation_leaves(spaces.Box(0.0, 1.0, (3,)), "mine")
    assert observation_of(leaves, values_of(leaves, array)) is array


@pytest.mark.parametrize(
    ("space", "where"),
    [
        (spaces.Text(4), "cannot store the observation space: Text"),
        (spaces.Dict(a=spaces.Text(4)), "cannot store key 'a' of the observation space: Text"),
    ],
)
def test_a_space_that_is_not_an_array_is_refused_in_the_name_of_the_storage(space, where):
    with pytest.raises(RlkError, match=rf"storage 'mine' \(rlk-mine\) {where}"):
        observation_leaves(space, "mine")


def test_actions_are_float32_or_int64():
    assert action_field(spaces.Box(-1.0, 1.0, (2,), np.float64)) == Field((2,), "float32")
    assert action_field(spaces.Discrete(3)) == Field((), "int64")
    assert action_field(spaces.MultiBinary(3)) == Field((3,), "int64")
    assert action_field(spaces.Box(-1.0, 1.0, (2, 3))) == Field((6,), "float32")


def step(**more):
    zeros, ended = np.zeros(2, np.float32), np.array([False, True])
    given = {"final_observation": {}, "extras": {}} | more
    return Step(zeros, zeros, zeros, ended, np.zeros(2, bool), zeros, **given)


def test_an_error_names_what_a_step_lacks_and_what_it_has():
    error = missing_extra("mine", "value", step(extras={"log_prob": np.zeros(2)}))
    assert "storage 'mine' was opened to keep 'value'" in str(error)
    assert str(error).endswith("It has: log_prob.")
    with pytest.raises(RlkError, match="environment 1 ended without a final observation"):
        final_observation(step(), 1)
    assert final_observation(step(final_observation={1: 5}), 1) == 5
