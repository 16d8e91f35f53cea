"""Functions that make environments also seed the global generators."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_baselines import gym
from rlk_baselines.common.cmd_util import make_mujoco_env, make_robotics_env, make_vec_env


class Reaching(gymnasium.Env):
    """A goal environment like those of robots; its first observation depends on the seed."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self) -> None:
        part = spaces.Box(0, 1, (2,), np.float32)
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = spaces.Dict(dict.fromkeys(keys, part))
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._shown(), {}

    def step(self, action):
        return self._shown(), -1.0, True, False, {"is_success": 0.0}

    def _shown(self):
        return {key: self.np_random.random(2, np.float32) for key in self.observation_space.spaces}


@pytest.fixture(autouse=True)
def register() -> Iterator[None]:
    gymnasium.register("Reaching-v0", Reaching)
    yield
    del gymnasium.registry["Reaching-v0"]


def drawn() -> list[float]:
    """The next numbers of the global generators."""
    return [random.random(), float(np.random.rand()), float(torch.rand(()))]


def seeded(seed: int) -> list[float]:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return drawn()


def test_a_robots_environment_is_a_row_and_seeds_the_program() -> None:
    env = make_robotics_env("Reaching-v0", seed=3, rank=2)
    assert drawn() == seeded(3)
    first = env.reset()
    assert first.shape == (4,)
    assert env.step(0)[3]["episode"]["is_success"] == 0.0
    assert np.array_equal(make_robotics_env("Reaching-v0", seed=3).reset(), first)


@pytest.mark.parametrize(("rank", "expected"), [(None, 3), ("0", 3), ("2", 20003)])
def test_every_rank_seeds_its_program_differently(
    rank: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rank is not None:
        monkeypatch.setenv("PMI_RANK", rank)
    env = make_mujoco_env("CartPole-v1", seed=3)
    assert drawn() == seeded(expected)
    env.seed(3)
    assert np.array_equal(env.reset(), make_mujoco_env("CartPole-v1", seed=3).reset())


class Halved(gymnasium.RewardWrapper):
    def reward(self, reward):
        return reward / 2


class HalvedOfGym(gym.RewardWrapper):
    def reward(self, reward):
        return reward / 2


@pytest.mark.parametrize(
    "wrapper_class",
    [
        Halved,
        HalvedOfGym,
        lambda env: gymnasium.wrappers.TransformReward(env, lambda reward: reward / 2),
        functools.partial(gymnasium.wrappers.TransformReward, func=lambda reward: reward / 2),
    ],
)
def test_a_wrapper_of_a_vector_is_of_either_interface(wrapper_class) -> None:
    env = make_vec_env("CartPole-v1", 2, wrapper_class=wrapper_class)
    env.reset()
    assert env.step([0, 0])[1].tolist() == [0.5, 0.5]


def test_a_wrapper_class_over_gymnasiums_wraps_each_environment_once() -> None:
    made: list[Any] = []

    class Counting(Halved):
        def __init__(self, env: Any) -> None:
            made.append(env)
            super().__init__(env)

    make_vec_env("CartPole-v1", 2, wrapper_class=Counting)
    assert len(made) == 2
