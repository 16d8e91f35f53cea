"""Infos of several environments in one dict of arrays."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_vector_environments.infos import as_it_is, ended, gather, kept


def test_numbers_become_an_array_with_a_mask():
    found = gather(3, [(0, {"x": 1}), (2, {"x": 5})])
    assert found["x"].dtype == np.int64 and found["x"].tolist() == [1, 0, 5]
    assert found["_x"].tolist() == [True, False, True]


def test_an_integer_and_a_fraction_become_fractions_not_integers():
    assert gather(2, [(0, {"x": 1}), (1, {"x": 1.5})])["x"].tolist() == [1.0, 1.5]


def test_a_number_beyond_64_bits_is_kept_as_it_is():
    assert gather(2, [(0, {"x": 2**80}), (1, {"x": 1})])["x"].tolist() == [2**80, 1]


def test_what_two_environments_disagree_about_is_kept_as_objects():
    for rows in ([np.zeros(2), np.ones(3)], [np.array([1, 2]), np.array([0.5, 2.5])]):
        found = gather(2, [(i, {"x": row}) for i, row in enumerate(rows)])["x"]
        assert found.dtype == object and found[0] is rows[0] and found[1] is rows[1]
    assert gather(2, [(0, {"x": {"a": 1}}), (1, {"x": 3})])["x"].tolist() == [{"a": 1}, 3]
    assert gather(2, [(0, {"x": None}), (1, {"x": 3})])["x"].tolist() == [None, 3]
    assert gather(2, [(0, {"x": [1, 2]}), (1, {"x": "a"})])["x"].tolist() == [[1, 2], "a"]


def test_arrays_of_one_shape_are_stacked_and_dicts_gathered_in_turn():
    found = gather(2, [(1, {"v": np.float32([1, 2]), "d": {"e": {"f": True}}})])
    assert found["v"].dtype == np.float32 and found["v"].tolist() == [[0, 0], [1, 2]]
    assert found["d"]["e"]["f"].tolist() == [False, True]
    assert found["d"]["e"]["_f"].tolist() == found["d"]["_e"].tolist() == [False, True]


def test_the_end_of_an_episode_is_told_even_if_its_info_is_empty():
    found = ended(2, [(1, np.zeros(2), {})])
    assert found["final_info"] == {}
    assert found["_final_info"].tolist() == [False, True]
    assert found["final_obs"].tolist()[0] is None and found["final_obs"][1].tolist() == [0, 0]


def test_numbers_that_are_kept_are_a_column_for_each_key():
    found = kept(2, ("x", "y"), {0: {"x": 1, "y": True}, 1: {"x": 2.5, "y": 0, "z": "a"}})
    assert {key: column.tolist() for key, column in found.items()} == {
        "info.x": [1.0, 2.5],
        "info.y": [1.0, 0.0],
    }
    assert found["info.x"].dtype == np.float32


@pytest.mark.parametrize("infos", [{0: {"x": 1}}, {0: {"x": 1}, 1: {}}])
def test_a_number_that_an_environment_does_not_give_is_nan(infos):
    np.testing.assert_array_equal(kept(2, ("x",), infos)["info.x"], [1.0, np.nan])


@pytest.mark.parametrize("value", [[1.0, 2.0], "far", {"y": 1}, None, np.float32("nan")])
def test_what_is_to_be_kept_and_is_no_number_is_named(value):
    message = rf"environment 1 gave {re.escape(repr(value))} as info 'x'.*info_keys need numbers"
    with pytest.raises(EnvironmentFailed, match=message):
        kept(2, ("x",), {0: {"x": 1}, 1: {"x": value}})


Place = namedtuple("Place", "x y")


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda found: defaultdict(float, found)])
def test_a_copy_of_an_info_stays_when_the_environment_writes_into_its_own(kind):
    array = np.zeros(2)
    info = kind(
        {"row": array, "in": kind({"n": 0}), "both": (array, [array]), "at": Place(array, 1)}
    )
    copy = as_it_is(info)
    array[:] = info["in"]["n"] = info["new"] = 7
    assert type(copy) is type(copy["in"]) is dict and list(copy) == ["row", "in", "both", "at"]
    assert copy["in"] == {"n": 0}
    for one in (copy["row"], copy["both"][0], copy["both"][1][0], copy["at"].x):
        assert one.tolist() == [0, 0]
