"""Observations with goals as rows, and back."""

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines.her.flat_goals import KEYS, FlatGoals


def goals(observation, goal):
    return spaces.Dict({"achieved_goal": goal, "desired_goal": goal, "observation": observation})


PLACE = spaces.Box(np.array([-1.0, -2.0], np.float32), np.array([1.0, 2.0], np.float32))
GOAL = spaces.Box(-3.0, 3.0, (1,), np.float32)
SEEN = {
    "desired_goal": np.array([0.5], np.float32),
    "observation": np.array([0.1, 0.2], np.float32),
    "achieved_goal": np.array([0.3], np.float32),
}


def test_observation_achieved_and_desired_goal_stand_side_by_side():
    flat = FlatGoals(goals(PLACE, GOAL))
    row = flat.row(SEEN)
    assert row.tolist() == np.array([0.1, 0.2, 0.3, 0.5], np.float32).tolist()
    assert row.dtype == np.float32 and flat.space.contains(row)
    assert flat.space.low.tolist() == [-1, -2, -3, -3]
    assert flat.space.high.tolist() == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("space", "row"),
    [
        (goals(PLACE, GOAL), spaces.Box(-3.0, 3.0, (4,), np.float32)),
        (goals(spaces.MultiBinary(4), spaces.MultiBinary(2)), spaces.MultiBinary(8)),
        (goals(spaces.Discrete(9), spaces.Discrete(5)), spaces.MultiDiscrete([9, 5, 5])),
    ],
    ids=["Box", "MultiBinary", "Discrete"],
)
def test_a_row_taken_apart_is_what_it_was_made_of_also_in_batches(space, row):
    flat = FlatGoals(space)
    assert type(flat.space) is type(row) and flat.space.shape == row.shape
    seen = [space.sample() for _ in range(3)]
    for one in seen:
        assert flat.space.contains(flat.row(one))
        apart = flat.parts(flat.row(one))
        assert list(apart) == list(KEYS)
        assert all(np.array_equal(apart[key], one[key]) for key in KEYS)
    batch = {key: np.stack([one[key] for one in seen]) for key in KEYS}
    rows = flat.row(batch)
    assert rows.tolist() == [flat.row(one).tolist() for one in seen]
    assert all(np.array_equal(flat.parts(rows)[key], batch[key]) for key in KEYS)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (PLACE, "has no observation and no achieved_goal and no desired_goal"),
        (spaces.Dict({"observation": PLACE, "achieved_goal": GOAL}), "has no desired_goal"),
        (goals(spaces.Box(0, 255, (4, 4, 1), np.uint8), GOAL), "HER needs no wrapper"),
        (goals(spaces.Discrete(3, start=1), spaces.Discrete(3, start=1)), "Discrete from 0 on"),
        (goals(spaces.MultiBinary(3), GOAL), "all of them are"),
    ],
)
def test_what_makes_no_row_is_refused(space, message):
    with pytest.raises(ValueError, match=message):
        FlatGoals(space)
