"""Environments of `gym.make`: their own seeds, and their time limits."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from rlk_baselines import A2C, gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common.vec_env import DummyVecEnv, SubprocVecEnv


def seeded(seed: int):
    env = gym.make("CartPole-v1")
    env.seed(seed)
    return env


def first(seed: int) -> list[float]:
    observation, _ = gymnasium.make("CartPole-v1").reset(seed=seed)
    return observation.tolist()


@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_a_seed_of_an_environments_own_counts_in_a_vector(kind) -> None:
    def make(rank: int):
        def make_one():
            env = gym.make("CartPole-v1")
            env.seed(3 + rank)
            return env

        return make_one

    vector = kind([make(rank) for rank in range(2)])
    assert vector.reset().tolist() == [first(3), first(4)]
    assert vector.reset().tolist() != [first(3), first(4)]
    vector.close()


def test_without_a_number_one_is_drawn_and_told() -> None:
    env = gym.make("CartPole-v1")
    env.seed(3)
    (drawn,), (other,) = env.seed(None), env.seed()
    assert drawn != other and env.reset().tolist() == first(other)


def test_a_seed_of_the_vector_comes_before_it() -> None:
    vector = DummyVecEnv([lambda: seeded(3)])
    vector.seed(8)
    assert vector.reset().tolist() == [first(8)]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: env,
        lambda env: Monitor(env, None),
        lambda env: gym.wrappers.TransformReward(env, lambda reward: reward),
        lambda env: gym.wrappers.FlattenObservation(env),
    ],
)
def test_a_model_without_a_seed_begins_with_it(wrap) -> None:
    shown = []

    class Wrapped(gym.Wrapper):
        def reset(self, **kwargs):
            shown.append(self.env.reset(**kwargs))
            return shown[-1]

    A2C("MlpPolicy", Wrapped(wrap(seeded(5)))).learn(5)
    assert shown[0].tolist() == first(5)


def test_an_environment_with_a_time_limit_is_a_TimeLimit_of_gyms() -> None:
    env = gym.make("Pendulum-v1")
    assert isinstance(env, gym.wrappers.TimeLimit)
    assert env._max_episode_steps == 200
    assert not isinstance(env.env, gym.wrappers.TimeLimit)
    assert env.spec.id == "Pendulum-v1"
    assert env.spec.max_episode_steps == 200
    assert env.reset().shape == env.env.reset().shape == (3,)
    assert len(env.env.step(np.zeros(1))) == 4


def test_its_limit_may_be_another() -> None:
    env = gym.make("Pendulum-v1")
    env._max_episode_steps = 2
    env.reset()
    ends = [env.step(np.zeros(1))[2:] for _ in range(2)]
    assert ends == [(False, {}), (True, {"TimeLimit.truncated": True})]


def test_an_episode_that_is_cut_off_inside_at_the_limit_stays_cut_off() -> None:
    inner = gym.wrappers.TimeLimit(gym.make("Pendulum-v1"), 2)
    env = gym.wrappers.TimeLimit(inner, 2)
    env.reset()
    env.step(np.zeros(1))
    assert env.step(np.zeros(1))[2:] == (True, {"TimeLimit.truncated": True})


def test_an_environment_without_a_limit_is_none() -> None:
    class Endless(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(1, np.float32), {}

        def step(self, action):
            return np.zeros(1, np.float32), 0.0, False, False, {}

    gymnasium.register("Endless-v0", entry_point=Endless)
    try:
        assert not isinstance(gym.make("Endless-v0"), gym.wrappers.TimeLimit)
    finally:
        del gymnasium.registry["Endless-v0"]
