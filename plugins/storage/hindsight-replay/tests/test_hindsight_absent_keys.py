"""Rewards of transitions whose infos may lack keys: the environment is asked as it gave them."""

import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_hindsight_replay.rewards import JudgeByKeys


def pairs(rows: int):
    rng = np.random.default_rng(0)
    achieved = rng.integers(0, 2, (rows, 3)).astype(np.float32)
    return achieved, rng.integers(0, 2, (rows, 3)).astype(np.float32)


def reached(achieved, desired):
    return np.where((achieved == desired).all(-1), 0.0, -1.0)


def branches(achieved, desired, info):
    """Takes batches without the key, and one row at a time with it."""
    found = reached(achieved, desired)
    return found - 10.0 * info["force"] if info.get("collision") else found


@pytest.mark.parametrize("begins_without_the_keys", [False, True])
def test_a_key_that_an_info_did_not_have_is_not_in_it_again(begins_without_the_keys):
    achieved, desired = pairs(30)
    collision, force = np.full(30, np.nan, np.float32), np.full(30, np.nan, np.float32)
    absent = {"collision": collision.copy(), "force": force.copy()}
    collision[::3], force[::6], force[3::6] = 1.0, 1.0, 2.0
    expected = reached(achieved, desired) - 10.0 * np.nan_to_num(force)
    judge = JudgeByKeys(branches, "compute_reward")
    if begins_without_the_keys:
        found = judge(achieved, desired, absent)
        np.testing.assert_array_equal(found, reached(achieved, desired))
    for _ in range(2):
        found = judge(achieved, desired, {"collision": collision, "force": force})
        np.testing.assert_array_equal(found, expected)
    found = judge(achieved[1:3], desired[1:3], {"collision": collision[1:3], "force": force[1:3]})
    np.testing.assert_array_equal(found, expected[1:3])


def test_each_row_lacks_its_own_keys_alone():
    def reward(achieved, desired, info):
        return np.zeros(achieved.shape[:-1]) + 100.0 * ("x" in info) + 10.0 * ("y" in info)

    x, y = np.array([1.0, 1.0, np.nan, np.nan]), np.array([1.0, np.nan, 1.0, np.nan])
    found = JudgeByKeys(reward, "compute_reward")(*pairs(4), {"x": x, "y": y})
    assert found.tolist() == [110.0, 100.0, 10.0, 0.0]


def test_a_key_that_an_info_did_not_have_and_a_reward_needs_is_named():
    judge = JudgeByKeys(lambda a, d, info: info["speed"], "compute_reward")
    info = {"speed": np.array([1.0, np.nan])}
    with pytest.raises(RlkError, match=r"compute_reward fails .*KeyError: 'speed'.*every step"):
        judge(*pairs(2), info)
