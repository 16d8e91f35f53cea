"""Vector environments that others made, as the loop takes them."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from rlk.errors import EnvironmentFailed, PlanError
from rlk_testing.contracts.vec_env.plain_loop import check, makers
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import StandInVecEnv
from rlk_vector_environments.adoption import ResetWhereEnded, adopt, autoreset_mode


def test_a_same_step_environment_stays_as_it_is():
    env = StandInVecEnv(makers(2))
    assert adopt(env) is env


def test_gymnasiums_default_is_taken_where_an_environment_does_not_say():
    class Silent(gym.vector.VectorEnv):
        metadata = {}

    assert autoreset_mode(Silent()) == AutoresetMode.NEXT_STEP


class Native(SyncVectorEnv):
    """As vector environments that are not Gymnasium's: who knows what they do with a mask."""


def test_a_next_step_environment_of_others_is_refused_with_what_to_do():
    env = Native([Walk], autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(PlanError, match=r"Native restarts.*SAME_STEP or DISABLED"):
        adopt(env)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        (SyncVectorEnv, AutoresetMode.DISABLED),
        (SyncVectorEnv, AutoresetMode.NEXT_STEP),
        (AsyncVectorEnv, AutoresetMode.NEXT_STEP),
    ],
)
def test_an_environment_is_reset_where_an_episode_ended_in_the_adopt(kind, mode):
    env, twin = adopt(kind(makers(3), autoreset_mode=mode)), StandInVecEnv(makers(3))
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
    env.close()


class ClearsItsArrays(SyncVectorEnv):
    """A step returns the environment's own arrays, which the restart of an episode clears."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=options)
        if options is not None:
            self.reward[:], self.speed[:] = 0.0, 0.0
        return found

    def step(self, actions):
        observation, reward, _, _, _ = super().step(actions)
        self.reward, self.speed = reward, np.full((self.num_envs, 2), 3.0)
        return observation, reward, self._terminations, self._truncations, {"speed": self.speed}


def test_what_a_step_returned_stays_where_the_restart_clears_the_arrays_of_the_environment():
    env = adopt(ClearsItsArrays([lambda: Walk(length=1)], autoreset_mode=AutoresetMode.DISABLED))
    twin = StandInVecEnv([lambda: Walk(length=1)])
    env.reset(seed=[1]), twin.reset(seed=[1])
    found, expected = (each.step(np.zeros(1, np.int64)) for each in (env, twin))
    assert (expected[2] | expected[3]).all() and expected[1].all()
    for i in (1, 2, 3):
        assert np.array_equal(found[i], expected[i])
    assert found[4]["final_info"]["speed"].tolist() == [[3.0, 3.0]]


class Says(Walk):
    """Its info is a number of the observation that the step led to."""

    def step(self, action):
        *result, _ = super().step(action)
        return *result, {"place": float(result[0][0])}


@pytest.mark.parametrize("mode", AutoresetMode)
def test_infos_that_are_kept_are_those_of_the_step_also_at_an_end(mode):
    env = adopt(
        SyncVectorEnv([lambda: Says(length=4)] * 2, autoreset_mode=mode), info_keys=["place"]
    )
    env.reset(seed=[1, 2])
    ended = 0
    for _ in range(12):
        observation, _, terminated, truncated, infos = env.step(np.zeros(2, np.int64))
        kept = infos["kept"]["info.place"]
        assert kept.dtype == np.float32
        for i, over in enumerate(terminated | truncated):
            ended += over
            assert kept[i] == (infos["final_obs"][i] if over else observation[i])[0]
    assert ended > 4


@pytest.mark.parametrize("value", [np.ones(2), "far", np.nan])
def test_an_info_that_is_no_number_is_named(value):
    class Wide(Says):
        def step(self, action):
            return *super().step(action)[:4], {"width": value}

    env = adopt(SyncVectorEnv([Wide] * 2), info_keys=["width"])
    env.reset(seed=[1, 2])
    with pytest.raises(EnvironmentFailed, match=r"environment 0 gave .* as info 'width'"):
        env.step(np.zeros(2, np.int64))


def test_an_info_that_is_not_there_is_nan():
    env = adopt(StandInVecEnv([Says] * 2), info_keys=["height"])
    env.reset(seed=[1, 2])
    assert np.isnan(env.step(np.zeros(2, np.int64))[4]["kept"]["info.height"]).all()


def test_the_state_of_what_is_inside_is_had_through_it():
    env, twin = (adopt(StandInVecEnv(makers(2)), info_keys=["place"]) for _ in range(2))
    env.reset(seed=[1, 2])
    twin.set_state(env.get_state())
    assert not hasattr(adopt(SyncVectorEnv(makers(1))), "get_state")


def test_final_observations_of_a_dict_are_dicts():
    env = adopt(
        SyncVectorEnv(
            makers(2, observation="dict", length=2), autoreset_mode=AutoresetMode.DISABLED
        )
    )
    env.reset(seed=[1, 2])
    env.step(np.zeros(2, np.int64))
    infos = env.step(np.zeros(2, np.int64))[4]
    finals = [final for final in infos["final_obs"] if final is not None]
    assert finals and all(set(final) == {"place", "room"} for final in finals)


def test_what_others_offer_besides_is_reached_but_not_the_halves_of_a_step():
    env = adopt(AsyncVectorEnv([Walk] * 2, autoreset_mode=AutoresetMode.DISABLED, context="fork"))
    try:
        assert env.get_attr("metadata") == env.call("metadata")
        assert not hasattr(env, "step_async") and not hasattr(env, "_state")
    finally:
        env.close()


def test_an_info_without_a_mask_is_of_all_environments():
    class Tells(StandInVecEnv):
        def step(self, actions):
            *result, infos = super().step(actions)
            return *result, {**infos, "speed": np.array([1.0, 2.0])}

    env = adopt(Tells(makers(2)), info_keys=("speed",))
    env.reset(seed=0)
    assert env.step(np.zeros(2, np.int64))[4]["kept"]["info.speed"].tolist() == [1.0, 2.0]


class Tells(Walk):
    """Its infos have a key after a reset, and another one after a step."""

    def __init__(self, of_step, length):
        super().__init__(length=length)
        self.of_step = of_step

    def reset(self, **keywords):
        return super().reset(**keywords)[0], {"begun": 1.0}

    def step(self, action):
        return *super().step(action)[:4], {self.of_step: 2.0}


def made(*keys, mode=AutoresetMode.DISABLED, **settings):
    fns = [lambda key=key, n=2 * i + 1: Tells(key, n) for i, key in enumerate(keys)]
    env = adopt(SyncVectorEnv(fns, autoreset_mode=mode), **settings)
    env.reset(seed=0)
    return env


def test_infos_are_of_the_reset_where_an_episode_ended_and_of_the_step_elsewhere():
    infos = made("here", "there").step(np.zeros(2, np.int64))[4]  # the first one's has one step
    assert infos["_begun"].tolist() == [True, False] and infos["begun"][0] == 1.0
    assert infos["_there"].tolist() == [False, True] and "here" not in infos
    assert infos["_final_info"].tolist() == [True, False]
    assert infos["final_info"]["here"][0] == 2.0
    assert not {"there", "begun"} & infos["final_info"].keys()


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.SAME_STEP])
def test_what_is_kept_is_never_of_the_reset_that_follows_an_end(mode):
    env = made("here", "begun", mode=mode, info_keys=["begun"])
    kept = env.step(np.zeros(2, np.int64))[4]["kept"]["info.begun"]
    np.testing.assert_array_equal(kept, [np.nan, 2.0])
