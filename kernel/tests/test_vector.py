from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.errors import PlanError
from rlk.testing.environments import Walk
from rlk.testing.stand_ins import StandInVecEnv
from rlk.testing.vec_env import check, makers
from rlk.vector import ResetWhereEnded, autoreset_mode, same_step


def test_a_same_step_environment_stays_as_it_is():
    env = StandInVecEnv(makers(2))
    assert same_step(env) is env


def test_gymnasiums_default_is_taken_where_an_environment_does_not_say():
    class Silent(gym.vector.VectorEnv):
        metadata = {}

    assert autoreset_mode(Silent()) == AutoresetMode.NEXT_STEP


def test_a_next_step_environment_is_refused_with_what_to_do():
    env = SyncVectorEnv([Walk], autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(PlanError, match=r"SyncVectorEnv restarts.*SAME_STEP or DISABLED"):
        same_step(env)


def test_an_environment_that_never_restarts_is_reset_where_an_episode_ended():
    disabled = SyncVectorEnv(makers(3), autoreset_mode=AutoresetMode.DISABLED)
    env, twin = same_step(disabled), StandInVecEnv(makers(3))
    assert isinstance(env, ResetWhereEnded) and autoreset_mode(env) == AutoresetMode.SAME_STEP
    one, two = env.reset(seed=[1, 2, 3])[0], twin.reset(seed=[1, 2, 3])[0]
    check(one, list(two), "the first observation")
    ended = 0
    for t in range(40):
        actions = (np.arange(3) + t) % 3
        found, expected = env.step(actions), twin.step(actions)
        check(found[0], list(expected[0]), f"observation {t}")
        for i in (1, 2, 3):
            assert np.array_equal(found[i], expected[i])
        over = expected[2] | expected[3]
        assert np.array_equal(found[4].get("_final_obs", np.zeros(3, bool)), over)
        for env_index in np.flatnonzero(over):
            ended += 1
            final, wanted = found[4]["final_obs"][env_index], expected[4]["final_obs"][env_index]
            assert np.array_equal(final, wanted)
    assert ended > 5


def test_final_observations_of_a_dict_are_dicts():
    env = same_step(
        SyncVectorEnv(
            makers(2, observation="dict", length=2), autoreset_mode=AutoresetMode.DISABLED
        )
    )
    env.reset(seed=[1, 2])
    env.step(np.zeros(2, np.int64))
    infos = env.step(np.zeros(2, np.int64))[4]
    finals = [final for final in infos["final_obs"] if final is not None]
    assert finals and all(set(final) == {"place", "room"} for final in finals)
