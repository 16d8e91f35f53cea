"""What `check_env` finds by stepping an environment."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest

from rlk_baselines import gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.env_checker import check_env


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_after_some_steps_are_warned_of(counting, value) -> None:
    class Failing(counting):
        where = "observation"

        def step(self, action):
            obs, reward, done, info = super().step(action)
            if self.steps < 3:
                return obs, reward, done, info
            if self.where == "reward":
                return obs, value, done, info
            return np.full_like(obs, value), reward, done, info

    for where in ("observation", "reward"):
        env = Failing()
        env.where = where
        with pytest.warns(UserWarning, match=f"found NaN or inf in the {where} returned by step"):
            check_env(env, warn=False)


def test_the_reward_of_a_step_is_that_of_its_goals() -> None:
    class Shaped(BitFlippingEnv):
        def step(self, action):
            obs, reward, done, info = super().step(action)
            return obs, reward - 0.1, done, info

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(BitFlippingEnv(4))
    for env in (Shaped(4), gym.wrappers.TimeLimit(Shaped(4), 9)):
        with pytest.raises(
            AssertionError, match=r"reward -[01]\.1, but compute_reward .* gives -?[01]\."
        ):
            check_env(env)


class Position(gym.Env):
    """Observes a Dict, without goals."""

    observation_space = gym.spaces.Dict({"position": gym.spaces.Box(0, 1, (2,), np.float32)})
    action_space = gym.spaces.Discrete(2)

    def reset(self):
        return self.observation_space.sample()

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, {}


class AddsReward(gym.Wrapper):
    """Computes the rewards of goals that its observations do not have."""

    def compute_reward(self, achieved_goal, desired_goal, info):
        return 0.0


def test_a_dict_without_goals_may_be_observed_in_a_wrapper() -> None:
    check_env(Position())
    check_env(Monitor(Position(), None))
    with pytest.raises(AssertionError, match="a goal environment shows observation, achieved"):
        check_env(Monitor(AddsReward(Position()), None))


def test_an_environment_that_may_not_be_reset_early_is_checked(counting) -> None:
    env = Monitor(counting(), None, allow_early_resets=False)
    check_env(env)
    assert env.get_total_steps() == 11 and env.get_episode_lengths() == [3, 3, 3]


def test_a_class_or_a_vector_is_not_an_environment(counting) -> None:
    with pytest.raises(AssertionError, match=r"got the class Counting: pass Counting\("):
        check_env(counting)
    with pytest.raises(AssertionError, match=r"got a vector: pass one of them"):
        check_env(make_vec_env("CartPole-v1"))


def test_keys_that_the_space_has_not_are_a_violation() -> None:
    class More(Position):
        def step(self, action):
            seen, *rest = super().step(action)
            return {**seen, "speed": 1.0}, *rest

    with pytest.raises(AssertionError, match=r"step has keys that its space has not: \['speed'\]"):
        check_env(More())


def test_an_info_of_reset_that_is_no_dict_is_a_violation() -> None:
    class NoInfo(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, None

    with pytest.raises(AssertionError, match=r"or \(observation, info\), where info is a dict"):
        check_env(NoInfo())
