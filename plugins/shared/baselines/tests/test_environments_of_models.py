"""The environments that models learn in: how they are passed, changed, seeded and normalised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_models import small_ppo

from rlk_baselines import A2C, DQN, PPO2
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_testing.environments.given_spaces import NESTED, Given


def test_one_environment_is_given_out_without_the_axis_of_a_vector() -> None:
    env = DQN("MlpPolicy", "CartPole-v1").get_env()
    assert env.reset().shape == (4,)
    obs, reward, done, info = env.step(0)
    assert (obs.shape, reward, done, info) == ((4,), 1.0, False, {})
    assert A2C("MlpPolicy", "CartPole-v1").get_env().reset().shape == (1, 4)


@pytest.mark.parametrize("space", NESTED)
def test_nested_observations_are_given_out_without_the_axis_of_a_vector(space: Any) -> None:
    model = DQN("MultiInputPolicy", DummyVecEnv([lambda: Given(None, space)]))
    env = model.get_env()
    assert space.contains(env.reset()) and space.contains(env.step(0)[0])
    assert model.predict(env.reset())[0] in (0, 1)


def test_the_environment_is_still_the_programs_own(counting) -> None:
    first, second = DummyVecEnv([counting]), DummyVecEnv([counting])
    model = small_ppo(first)
    model.set_env(second)
    assert model.get_env() is second and first.reset().shape == (1, 2)
    with pytest.raises(ValueError, match="observation_space"):
        model.set_env("CartPole-v1")
    assert model.get_env() is second


@pytest.mark.parametrize("cls", [PPO2, DQN])
def test_a_model_moves_to_a_vector_of_another_number(cls: Any, counting) -> None:
    settings = {"n_steps": 16} if cls is PPO2 else {"learning_starts": 4, "buffer_size": 100}
    model = cls("MlpPolicy", counting(), gamma=0.9, seed=0, n_cpu_tf_sess=1, **settings).learn(16)
    before, run = model.get_parameters(), model.agent.run
    model.set_env(DummyVecEnv([counting] * 3))
    after = model.get_parameters()
    assert all(np.array_equal(after[name], before[name]) for name in before)
    assert model.n_envs == model.get_env().num_envs == 3 and model.num_timesteps == 16
    assert model.agent.plan.algorithm.config.gamma == 0.9
    if cls is DQN:
        assert len(run.storage) == 16 and len(model.replay_buffer) == 15  # 5 in each of 3
    assert model.learn(48).num_timesteps == 48


@pytest.mark.parametrize("n_envs", [1, 2])
def test_means_are_of_the_episodes_of_the_environment_that_is_set(n_envs: int, counting) -> None:
    model = small_ppo(counting(length=3)).learn(16)
    assert {one["l"] for one in model.ep_info_buf} == {3}
    model.agent.run.metrics.recent_successes.append(1.0)
    model.set_env(DummyVecEnv([lambda: counting(length=4)] * n_envs))
    assert model.ep_info_buf == [] and not model.agent.run.metrics.recent_successes
    model.learn(32)
    assert {one["l"] for one in model.ep_info_buf} == {4}


def test_an_attribute_that_was_set_counts_before_a_vector_of_another_number(counting) -> None:
    model = small_ppo(counting()).learn(16)
    model.gamma = 0.5
    model.set_env(DummyVecEnv([counting] * 2))
    assert model.learn(32).agent.plan.algorithm.config.gamma == 0.5


def test_training_continues_where_an_episode_was(counting) -> None:
    env = DummyVecEnv([lambda: counting(40)])
    model = small_ppo(env).learn(16)
    model.learn(16, reset_num_timesteps=False)
    assert env.get_attr("steps") == [32] and model.num_timesteps == 32


def test_environments_keep_their_own_seeds_unless_the_model_has_one(counting) -> None:
    env = DummyVecEnv([counting])
    env.seed(5)
    PPO2("MlpPolicy", env, n_steps=16, nminibatches=1).learn(16)
    assert env.get_attr("seeds") == [[5]]


def test_a_normalised_environment_is_seen_by_the_model(counting) -> None:
    env = VecNormalize(make_vec_env(counting, n_envs=2))
    model = small_ppo(env).learn(32)
    assert model.get_vec_normalize_env() is env and env.obs_rms.count > 32
    assert model.ep_info_buf[-1] == {"r": 3.0, "l": 3.0}
