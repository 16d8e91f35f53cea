from __future__ import annotations

import math

import numpy as np
import pytest

from rlk_on_policy.advantages import explained_variance
from rlk_on_policy.gae import gae, next_values

NOTHING = np.empty(0, np.int64)


def column(*values, dtype=np.float32):
    return np.array(values, dtype)[:, None]


def advantages(reward, value, next_value, ended, gamma, lam):
    return gae(
        column(*reward), column(*value), column(*next_value), column(*ended, dtype=bool), gamma, lam
    )[:, 0].tolist()


def test_three_steps_are_those_computed_by_hand():
    found = advantages([1, 2, 3], [1, 2, 4], [2, 4, 6], [False] * 3, gamma=0.5, lam=0.5)
    # delta = (1 + 1 - 1, 2 + 2 - 2, 3 + 3 - 4) = (1, 2, 2)
    # A2 = 2, A1 = 2 + 0.25 * 2, A0 = 1 + 0.25 * 2.5
    assert found == [1.625, 2.5, 2.0]


def test_nothing_flows_back_over_the_end_of_an_episode():
    found = advantages([1, 2, 3], [0, 0, 0], [0, 0, 0], [False, True, False], gamma=1.0, lam=1.0)
    assert found == [3.0, 2.0, 3.0]


def test_lambda_zero_is_the_td_error_and_one_the_return_without_the_value():
    data = ([1, 2, 3], [5, 6, 7], [6, 7, 8], [False] * 3)
    assert advantages(*data, gamma=0.5, lam=0.0) == [-1.0, -0.5, 0.0]
    # R2 = 3 + 0.5 * 8 = 7, R1 = 2 + 0.5 * 7 = 5.5, R0 = 1 + 0.5 * 5.5 = 3.75
    assert advantages(*data, gamma=0.5, lam=1.0) == [3.75 - 5, 5.5 - 6, 7.0 - 7]


def recursive(reward, value, next_value, ended, gamma, lam, t=0):
    """Equation 16 as it is written, for one environment."""
    delta = reward[t] + gamma * next_value[t] - value[t]
    if t + 1 == len(reward) or ended[t]:
        return delta
    return delta + gamma * lam * recursive(reward, value, next_value, ended, gamma, lam, t + 1)


def test_it_equals_the_recursion_on_many_environments():
    rng = np.random.default_rng(0)
    reward, value, following = (rng.normal(size=(20, 3)).astype(np.float32) for _ in range(3))
    ended = rng.random((20, 3)) < 0.2
    found = gae(reward, value, following, ended, 0.97, 0.9)
    assert found.dtype == np.float32
    for env in range(3):
        for t in range(20):
            columns = (array[t:, env] for array in (reward, value, following, ended))
            assert found[t, env] == pytest.approx(recursive(*columns, 0.97, 0.9), abs=1e-5)


def test_it_leaves_its_arguments_as_they_were():
    reward, value, following = (np.ones((3, 1), np.float32) for _ in range(3))
    gae(reward, value, following, np.zeros((3, 1), bool), 0.9, 0.9)
    assert reward.tolist() == value.tolist() == following.tolist() == [[1.0]] * 3


# ---- what follows --------------------------------------------------------------------------------


def following(terminated, truncated, final_time=NOTHING, final_env=NOTHING, final_value=()):
    return next_values(
        value=column(1, 2, 3),
        last_value=np.array([4.0], np.float32),
        terminated=column(*terminated, dtype=bool),
        truncated=column(*truncated, dtype=bool),
        final_time=np.asarray(final_time),
        final_env=np.asarray(final_env),
        final_value=np.array(final_value, np.float32),
    )[:, 0].tolist()


def test_the_next_value_is_that_of_the_next_step_and_at_last_of_what_follows():
    no = [False] * 3
    assert following(no, no) == [2.0, 3.0, 4.0]


def test_what_terminated_has_no_next_value():
    found = following([False, True, False], [False] * 3, [1], [0], [9.0])
    assert found == [2.0, 0.0, 4.0]


def test_what_was_truncated_has_the_value_of_what_it_ended_on():
    found = following([False] * 3, [False, True, False], [1], [0], [9.0])
    assert found == [2.0, 9.0, 4.0]


def test_an_episode_that_ends_with_the_collection_does_not_use_the_next_ones_value():
    assert following([False] * 3, [False, False, True], [2], [0], [9.0])[-1] == 9.0
    assert following([False, False, True], [False] * 3, [2], [0], [9.0])[-1] == 0.0


def test_what_terminated_and_was_truncated_at_once_counts_as_terminated():
    assert following([False, True, False], [False, True, False], [1], [0], [9.0])[1] == 0.0


# ---- explained variance --------------------------------------------------------------------------


def test_a_perfect_prediction_explains_all_and_a_constant_nothing():
    actual = np.array([1.0, 2.0, 4.0])
    assert explained_variance(actual, actual) == 1.0
    assert explained_variance(np.full(3, 7.0), actual) == pytest.approx(0.0)


def test_a_prediction_that_is_off_by_a_constant_still_explains_all():
    actual = np.array([1.0, 2.0, 4.0])
    assert explained_variance(actual + 5.0, actual) == pytest.approx(1.0)


def test_explained_variance_by_hand():
    # errors (0, 1): variance 1/4; actual (0, 2): variance 1
    assert explained_variance(np.array([0.0, 1.0]), np.array([0.0, 2.0])) == 0.75


def test_where_there_is_no_variance_to_explain_there_is_no_number():
    assert math.isnan(explained_variance(np.array([1.0, 2.0]), np.array([3.0, 3.0])))
