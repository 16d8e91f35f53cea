"""`VecNormalize` of a Box: returns, clipping and the way back, with numbers by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize, sync_envs_normalization
from rlk_baselines.common.vec_env.observation_statistics import fit


def test_rewards_are_scaled_by_returns_that_start_again_with_every_episode(counting: Any) -> None:
    env = VecNormalize(DummyVecEnv([lambda: counting(2)]), gamma=0.5)
    env.reset()
    for _ in range(2):
        env.step([0])
    _, rewards, _, _ = env.step([0])
    # The returns are 0 at the reset, 1, 0.5 * 1 + 1 at the end of the episode, and 1 again. The
    # prior has the mean 0, the variance 1 and the weight 1e-4.
    mean = (0 + 1 + 1.5 + 1) / 4.0001
    variance = (0 + 1 + 1.5**2 + 1 + 1e-4) / 4.0001 - mean**2
    assert env.ret_rms.mean == pytest.approx(mean) and env.ret_rms.var == pytest.approx(variance)
    assert rewards[0] == pytest.approx(1 / np.sqrt(variance))
    env.reset()
    env.step([0])
    assert env.ret_rms.mean == pytest.approx((3.5 + 0 + 1) / 6.0001), "a reset starts again, too"


def filled(counting: Any, **keywords: Any) -> VecNormalize:
    """A `VecNormalize` with the variances 3 and 15, which its epsilon 1 makes squares."""
    env = VecNormalize(DummyVecEnv([counting]), epsilon=1.0, **keywords)
    env.obs_rms.mean, env.obs_rms.var = np.array([1.0, 2.0]), np.array([3.0, 15.0])
    env.ret_rms.mean, env.ret_rms.var = np.array(9.0), np.array(15.0)
    return env


def test_observations_and_rewards_are_scaled_clipped_and_scaled_back(counting: Any) -> None:
    env = filled(counting, clip_obs=2.0, clip_reward=0.5)
    assert env.normalize_obs(np.array([[3.0, 0.0], [9.0, -99.0]])).tolist() == [[1, -0.5], [2, -2]]
    assert env.normalize_reward(np.array([1.0, 4.0, -4.0])).tolist() == [0.25, 0.5, -0.5]
    assert env.unnormalize_obs(np.array([[1.0, -0.5]])).tolist() == [[3, 0]]
    assert env.unnormalize_reward(np.array([0.25])).tolist() == [1]


def test_what_is_not_normalised_is_not_scaled_back_either(counting: Any) -> None:
    env, numbers = filled(counting, norm_obs=False, norm_reward=False), np.array([[1.0, 2.0]])
    for function in (env.normalize_obs, env.unnormalize_obs):
        assert function(numbers).tolist() == [[1, 2]]
    for function in (env.normalize_reward, env.unnormalize_reward):
        assert function(numbers[0]).tolist() == [1, 2]


def test_observations_count_in_the_statistics_only_while_they_are_normalised(counting: Any) -> None:
    env = VecNormalize(DummyVecEnv([counting]), norm_obs=False)
    unseen = env.obs_rms.count
    env.reset()
    env.step([0])
    assert env.obs_rms.count == unseen
    env.norm_obs = True
    env.step([0])
    assert env.obs_rms.count == pytest.approx(unseen + 1)


def test_the_last_observations_among_the_originals_are_of_the_latest_step(counting: Any) -> None:
    env = VecNormalize(DummyVecEnv([lambda: counting(2)]))
    env.reset()
    ends = []
    for _ in range(3):
        env.step([0])
        ends.append(list(env.originals()[2]))
    assert ends == [[], [0], []]


def test_originals_belong_to_the_program(counting: Any) -> None:
    env = VecNormalize(DummyVecEnv([counting]))
    env.reset()
    with pytest.raises(PlanError, match="no reward yet"):
        env.get_original_reward()
    env.step([0])
    env.get_original_obs()[:] = 50.0
    env.get_original_reward()[:] = 50.0
    assert env.get_original_obs().tolist() == [[1, 7]] and env.get_original_reward() == [1]


def test_an_evaluation_gets_both_statistics_as_copies(counting: Any) -> None:
    env, other = filled(counting), VecNormalize(DummyVecEnv([counting]), training=False)
    sync_envs_normalization(env, other)
    env.reset()
    assert other.obs_rms.mean.tolist() == [1, 2] and other.obs_rms.var.tolist() == [3, 15]
    assert (other.ret_rms.mean, other.ret_rms.var, other.ret_rms.count) == (9, 15, 1e-4)


def test_statistics_fit_a_space_that_has_the_shape_of_each() -> None:
    rms = {key: RunningMeanStd(shape=(size,)) for key, size in (("a", 2), ("b", 3))}
    a, b = (spaces.Box(0.0, 1.0, (size,)) for size in (2, 3))
    assert fit(spaces.Dict(a=a, b=b, c=a), rms)
    assert not fit(spaces.Dict(a=a, b=a), rms) and not fit(spaces.Dict(a=a), rms)
    assert not fit(a, rms) and fit(a, rms["a"]) and not fit(b, rms["a"])


def test_numbers_may_lie_on_their_bounds(counting: Any) -> None:
    for keywords in ({"gamma": 0.0}, {"gamma": 1.0}, {"epsilon": 0.0}):
        VecNormalize(DummyVecEnv([counting]), **keywords)
    for keywords in ({"gamma": 1.01}, {"gamma": -0.1}, {"epsilon": -1e-9}, {"clip_obs": 0.0}):
        with pytest.raises(PlanError, match="VecNormalize: "):
            VecNormalize(DummyVecEnv([counting]), **keywords)
