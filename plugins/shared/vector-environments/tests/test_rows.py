"""Batches whose rows are replaced, and samples that a countable space does not have."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from rlk_vector_environments import rows
from rlk_vector_environments.failures import WrongResult
from rlk_vector_environments.result_checks import check_reset


def test_rows_are_replaced_in_a_copy() -> None:
    tree = {"a": np.zeros((3, 2)), "b": (np.arange(3),)}
    found = rows.replaced(tree, [2, 0], {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": ([7, 8],)})
    assert found["a"].tolist() == [[3, 4], [0, 0], [1, 2]] and found["b"][0].tolist() == [8, 1, 7]
    assert not tree["a"].any() and tree["b"][0].tolist() == [0, 1, 2]


def test_rows_of_any_memory_layout_are_written() -> None:
    array = np.zeros((2, 3), np.float32).T
    rows.writer(array)(1, np.array([5.0, 6.0], np.float32))
    assert array.tolist() == [[0, 0], [5, 6], [0, 0]]


def test_integers_are_cast_to_any_integers_and_fractions_are_not() -> None:
    tree = np.zeros(2, np.uint8)
    rows.copy_into(tree, np.array([3, 4]))
    assert tree.tolist() == [3, 4]
    with pytest.raises(TypeError):
        rows.copy_into(tree, np.array([0.5, 1.0]))


@pytest.mark.parametrize(
    ("space", "inside", "outside"),
    [
        (gym.spaces.Discrete(3, start=2), [2, 4], [1, 5]),
        (gym.spaces.MultiDiscrete([2, 3], start=[0, 5]), [[0, 5], [1, 7]], [[0, 4], [2, 5]]),
        (gym.spaces.MultiBinary(2), [[0, 1]], [[-1, 0], [0, 2]]),
    ],
)
def test_numbers_that_a_countable_space_does_not_have_are_refused(space, inside, outside) -> None:
    env = SimpleNamespace(observation_space=space, spec=None, unwrapped=None)
    for sample in inside:
        check_reset(0, env, (np.array(sample), {}))
    for sample in outside:
        with pytest.raises(WrongResult, match="gave a wrong observation in reset"):
            check_reset(0, env, (np.array(sample), {}))
    with pytest.raises(WrongResult, match="float64, which may be fractions; expected int"):
        check_reset(0, env, (np.array(inside[0], np.float64), {}))


def test_lists_of_different_lengths_are_refused_as_an_observation() -> None:
    space = gym.spaces.Box(-9.0, 9.0, (2, 2), np.float32)
    env = SimpleNamespace(observation_space=space, spec=None, unwrapped=None)
    check_reset(0, env, ([[1.0, 2.0], [1.0, 2.0]], {}))
    with pytest.raises(WrongResult, match="gave a wrong observation in reset"):
        check_reset(0, env, ([[1.0], [1.0, 2.0]], {}))
