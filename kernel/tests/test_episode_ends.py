"""Which ends of episodes are counted."""

import numpy as np

from rlk.episode_ends import counted

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
