"""The same results, step by step, as Gymnasium's SyncVectorEnv with same-step restarts."""

from __future__ import annotations

import functools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk_testing.tools.states import same


def compare(make, zoo, env_fns, steps):
    ours = make(env_fns, info_keys=None)
    theirs = SyncVectorEnv(env_fns, autoreset_mode=AutoresetMode.SAME_STEP)
    assert ours.action_space == theirs.action_space
    assert ours.observation_space == theirs.observation_space
    ends = 0
    both = zip(zoo.play(ours, steps), zoo.play(theirs, steps), strict=True)
    for step, (found, expected) in enumerate(both):
        if len(found) == 5:
            ends += int((found[2] | found[3]).sum())
            assert found[1].dtype == np.float32
            expected = (expected[0], expected[1].astype(np.float32), *expected[2:])
        assert same(found, expected), f"step {step}:\n{found}\n{expected}"
    assert ends > 10


def test_cartpole_tells_the_same_for_400_steps(make, zoo):
    compare(make, zoo, [lambda: gym.make("CartPole-v1")] * 4, 400)


def test_a_wrapper_that_reports_episodes_is_gathered_the_same(make, zoo, monkeypatch):
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)  # it reports the duration of episodes

    def make_one():
        return gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))

    compare(make, zoo, [make_one] * 3, 200)


@pytest.mark.parametrize(
    "action", ["discrete", "box", "multi-discrete", "multi-binary", "dict", "tuple"]
)
def test_every_kind_of_action_reaches_the_environment_the_same(make, zoo, action):
    compare(make, zoo, [functools.partial(zoo.Everything, "box", action)] * 3, 80)


@pytest.mark.parametrize(
    "observation", ["box", "scalar box", "image", "discrete", "multi-discrete", "dict"]
)
def test_every_kind_of_observation_comes_back_the_same(make, zoo, observation):
    compare(make, zoo, [functools.partial(zoo.Everything, observation)] * 3, 80)


def test_an_action_has_the_type_that_gymnasium_gives_it(make, zoo):
    for action in zoo.ACTION_SPACES:
        ours = make([functools.partial(zoo.Everything, "box", action)])
        theirs = SyncVectorEnv([functools.partial(zoo.Everything, "box", action)])
        for vector in (ours, theirs):
            zoo.play(vector, 1)
        found, expected = ours.envs[0].kept[0], theirs.envs[0].kept[0]
        assert type(found) is type(expected)
        assert same(found, expected)
