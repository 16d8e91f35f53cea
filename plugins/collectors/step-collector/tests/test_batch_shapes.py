"""A vector environment that gives the wrong things is named, and what to give instead."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlk.errors import EnvironmentFailed


class Ends(gym.vector.VectorEnv):
    """Two environments; the episode of the second ends in every third step.

    Args:
        infos: of a step in which one ends.
        wrap: what rewards and flags are wrapped in.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    num_envs = 2
    single_action_space = gym.spaces.Discrete(2)
    single_observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
    observation_space = batch_space(single_observation_space, 2)
    action_space = batch_space(single_action_space, 2)

    def __init__(self, infos, wrap=np.asarray):
        self.infos, self.wrap, self.steps = infos, wrap, 0

    def reset(self, *, seed=None, options=None):
        return np.zeros((2, 1), np.float32), {}

    def step(self, actions):
        self.steps += 1
        over = np.array([False, self.steps % 3 == 0])
        found = [self.wrap(one) for one in (np.ones(2), over, np.zeros(2, bool))]
        return np.zeros((2, 1), np.float32), *found, self.infos if over.any() else {}


@pytest.mark.parametrize(
    ("infos", "keys"),
    [
        ({}, r"\[\]"),
        ({"final_observation": np.zeros((2, 1))}, "final_observation"),
        ({"final_obs": np.array([np.zeros(1), None], object)}, "final_obs"),
    ],
)
def test_an_episode_without_a_final_observation_is_refused(make, infos, keys):
    agent = make(env=Ends(infos), n_steps=8)
    message = (
        rf"Ends.* no final observation of environment 1.* the keys .*{keys}(.|\n)*'final_obs'\]"
    )
    with pytest.raises(EnvironmentFailed, match=message):
        agent.learn(8)
    assert agent.num_timesteps == 4


def test_lists_instead_of_arrays_are_refused(make):
    with pytest.raises(
        EnvironmentFailed, match=r"reward: \[1.0, 1.0\] \(list\); .* an array, float"
    ):
        make(env=Ends({}, np.ndarray.tolist), n_steps=8).learn(8)


def test_flags_that_are_numbers_are_refused(make):
    env = Ends({}, lambda one: one.astype(np.float64))
    with pytest.raises(EnvironmentFailed, match=r"terminated: float64 \(2,\); expected bool \(2,"):
        make(env=env, n_steps=8).learn(8)


class TruncatesByNumbers(Ends):
    def step(self, actions):
        *found, truncated, infos = super().step(actions)
        return *found, truncated.astype(np.int64), infos


def test_truncations_that_are_numbers_are_refused(make):
    with pytest.raises(EnvironmentFailed, match=r"truncated: int64 \(2,\); expected bool \(2,"):
        make(env=TruncatesByNumbers({}), n_steps=8).learn(8)
