"""Which ends of episodes are counted, and what monitors report of them."""

import numpy as np
import pytest

from rlk.episode_ends import counted, reported_return, success, was_lost
from rlk.errors import RlkError

ENDED = np.array([True, True, False])


def test_every_end_counts_where_no_environment_says_otherwise():
    assert (
        counted(ENDED, {}).tolist() == counted(ENDED, {"final_info": {}}).tolist() == ENDED.tolist()
    )


def test_an_episode_whose_game_continues_does_not_count():
    goes_on = np.array([True, False, False])
    assert counted(ENDED, {"final_info": {"goes_on": goes_on}}).tolist() == [False, True, False]
    mixed = np.array([True, None, None], object)
    assert counted(ENDED, {"final_info": {"goes_on": mixed}}).tolist() == [False, True, False]


def test_what_a_monitor_reports_is_told_from_an_environments_own_value():
    told = {"episode": {"r": np.array([1.5, 0.0]), "l": np.array([3, 0])}}
    assert reported_return(told, 0, 9.0) == 1.5 and reported_return(told, 1, 9.0) == 0.0
    assert reported_return({**told, "_episode": np.array([True, False])}, 1, 9.0) == 9.0
    for own in (np.array([5, 6]), {"id": np.array([1, 2])}, np.array([None, "x"], object)):
        infos = {"episode": own, "_episode": np.array([True, True])}
        assert reported_return(infos, 0, 9.0) == 9.0
    assert reported_return({}, 0, 9.0) == 9.0


def test_an_episode_is_lost_where_its_last_info_says_so():
    infos = {"worker_restarted": np.array([True, False])}
    assert was_lost(infos, 0) and not was_lost(infos, 1) and not was_lost({}, 0)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (np.array([True, False]), [1.0, 0.0]),
        (np.array([None, True], object), [None, 1.0]),
        (np.array([np.nan, 0.5]), [None, 0.5]),
        (np.array([[1.0], [0.0]]), [1.0, 0.0]),
        (np.array([np.array([True]), None], object), [1.0, None]),
    ],
)
def test_the_success_of_an_episode_is_a_number_and_none_is_not_told(told, expected):
    assert [success({"is_success": told}, env) for env in (0, 1)] == expected
    mask = np.array([False, True])
    assert success({"is_success": told, "_is_success": mask}, 0) is None
    assert success({"is_success": told, "_is_success": mask}, 1) == expected[1]
    assert success({}, 0) is None


@pytest.mark.parametrize("told", ["yes", np.array([True, True])])
def test_a_success_that_is_no_number_is_refused_with_its_environment(told):
    with pytest.raises(RlkError, match=r"^environment 1 ended an episode with is_success="):
        success({"is_success": [None, told]}, 1)
