"""The environment that a model returns: `get_env`, `env`, and `training_env` of callbacks."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import ClipReward

from rlk_baselines import A2C, DDPG, DQN, TRPO, gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.environments.one import vector_of_one

SMALL = {"learning_starts": 4, "buffer_size": 50, "batch_size": 4}


@pytest.mark.parametrize("cls", [DQN, TRPO])
def test_the_environment_that_was_passed_is_given_out(cls: Any) -> None:
    class Seen(BaseCallback):
        def _on_step(self) -> bool:
            self.training_env.foo = self.num_timesteps
            return self.training_env is self.model.env

    env = Monitor(gym.make("CartPole-v1"), None)
    env.foo = 5
    model = cls("MlpPolicy", env, **({"timesteps_per_batch": 20} if cls is TRPO else SMALL))
    assert model.get_env() is model.env is env and env.foo == 5
    assert model.learn(20, callback=Seen()).num_timesteps == env.foo == 20
    assert isinstance(env, gym.Wrapper) and env.get_total_steps() == 20
    model.learn(20)
    assert isinstance(A2C("MlpPolicy", env).get_env(), DummyVecEnv)
    other = Monitor(gym.make("CartPole-v1"), None)
    model.set_env(other)
    assert model.get_env() is other


def test_an_environment_that_the_program_stepped_begins_anew(counting) -> None:
    env = counting(length=40)
    model = DQN("MlpPolicy", env, **SMALL).learn(20)
    model.get_env().step(0)
    model.learn(10)
    assert env.steps == 10


def test_one_of_gymnasiums_interface_has_gyms() -> None:
    inner = gymnasium.make("CartPole-v1")
    model = DQN("MlpPolicy", inner, **SMALL)
    env = model.get_env()
    assert env is model.get_env() and env.unwrapped is inner.unwrapped
    assert isinstance(env, gymnasium.Env) and env.reward_range == (-np.inf, np.inf)
    observation, done = env.reset(), False
    while not done:
        observation, reward, done, _ = env.step(env.action_space.sample())
    assert observation.shape == (4,) and reward == 1.0
    env.foo = 5
    assert inner.get_wrapper_attr("foo") == env.foo == 5
    assert env.x_threshold == inner.unwrapped.x_threshold
    env.x_threshold = 1.0
    assert inner.unwrapped.x_threshold == 1.0
    assert evaluate_policy(model, env, n_eval_episodes=2)[0] >= 1
    model.learn(20)
    before = model._env
    model.set_env(env)
    assert model._env is before


def test_its_seed_counts_with_the_next_reset() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", **SMALL)
    env = model.get_env()
    env.seed(5)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    env.seed(5)
    assert np.array_equal(model._env.reset()[0], first)


def test_a_vector_of_one_is_given_out_without_its_axis() -> None:
    env = VecNormalize(DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    model = DQN("MlpPolicy", env, **SMALL)
    given = model.get_env()
    assert given is model.get_env() and given.venv is env
    assert given.reset().shape == (4,) and given.clip_obs == env.clip_obs
    assert given.x_threshold == pytest.approx(2.4)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = given.nothing_like_it
    other = VecNormalize(DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    model.set_env(other)
    assert model.get_env().venv is other


def test_the_seed_of_a_reset_counts_more_than_that_of_the_vector() -> None:
    view = vector_of_one(gymnasium.make("CartPole-v1")).one
    expected, _ = gymnasium.make("CartPole-v1").reset(seed=3)
    view.seed(5)
    assert np.array_equal(view.reset(seed=3), expected)
    view.seed(3)
    assert np.array_equal(view.reset(), expected)
    assert not np.array_equal(view.reset(), expected), "a seed is used once"


def test_environments_that_are_made_later_have_the_seed_that_was_set_before() -> None:
    made = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 2)
    spaces = made.observation_space, made.action_space
    awaited = AwaitedVecEnv(2, *spaces, "CartPole-v1")
    assert awaited.seed(5) == made.seed(5) == [5, 6] and not awaited.is_made
    assert np.array_equal(awaited.reset(), made.reset()) and awaited.is_made
    assert awaited.seed(9) == [9, 10]
    made.seed(9)
    assert np.array_equal(awaited.reset(), made.reset())


def test_what_a_file_holds_is_of_the_vector_that_a_model_has_now() -> None:
    model = A2C("MlpPolicy", ClipReward(gymnasium.make("CartPole-v1"), 0, 0.5))
    assert model.about()["env_id"] is None
    model.set_env("CartPole-v1")
    assert model.about()["env_id"] == "CartPole-v1"
    with pytest.raises(ValueError, match="space"):
        model.set_env("Acrobot-v1")
    assert model.about()["env_id"] == "CartPole-v1"


def test_an_action_of_several_numbers_reaches_the_environment_that_is_given_out(counting) -> None:
    env = counting()
    env.action_space = gym.spaces.Box(-1, 1, (3,))
    model = DDPG("MlpPolicy", VecNormalize(DummyVecEnv([lambda: env])), batch_size=4)
    given = model.get_env()
    given.reset()
    assert given.step(np.array([1.0, 2.0, 3.0]))[3]["nested"] == {"action": 6}
