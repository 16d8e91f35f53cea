"""Observations that an agent does not act on, because its policy would misread them."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rlk.hookspecs import hookimpl
from rlk.registry.hooks import Hooks
from rlk.running.acting import Acting
from rlk.running.observation_check import observation_check

BOX = spaces.Box(-1.0, 1.0, (2,), np.float32)
IMAGE = spaces.Box(0, 255, (1, 1, 2), np.uint8)
DICT = spaces.Dict(place=BOX, camera=IMAGE, room=spaces.Discrete(3))
SCALED = r"this agent takes images of whole numbers from 0 to 255, which it scales itself, got "


def check(space, observation):
    plan = SimpleNamespace(observation_space=space)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "invalid value")
        observation_check(SimpleNamespace(plan=plan, hooks=Hooks()))(observation)


def images(*values, dtype):
    return np.array(values, dtype).reshape(-1, 1, 1, 2)


def seen(**changed):
    parts = {"place": np.zeros((1, 2)), "camera": images(0, 1, dtype=int), "room": np.array([1])}
    return parts | changed


@pytest.mark.parametrize(
    ("space", "observation"),
    [
        (BOX, np.zeros((1, 2), np.float32)),
        (BOX, np.array([[3e38, 3e38]])),
        (BOX, np.array([[7, -7]])),
        (BOX, np.array([[1, 0.5]], object)),
        (spaces.Discrete(3), np.array([2])),
        (spaces.Box(0, 9, (1,), np.int64), np.array([[9]])),
        (IMAGE, images(0, 255, dtype=np.uint8)),
        (IMAGE, images(0, 255, dtype=np.int64)),
        (IMAGE, images(0, 255, dtype=np.float32)),
        (DICT, seen()),
    ],
)
def test_what_the_policy_reads_as_in_training_is_taken(space, observation):
    check(space, observation)


@pytest.mark.parametrize(
    ("space", "observation", "told"),
    [
        (BOX, np.array([[0.0, np.nan]]), r"got nan in observation\[1\] \(row 0\)"),
        (BOX, np.array([[0.0, 0.0], [-np.inf, 0.0]]), r"-inf in observation\[0\] \(row 1\)"),
        (BOX, np.array([[0.0, 1e39]]), r"got 1e\+39 \(too large for a float32\) in observation"),
        (BOX, np.array([[0.0, None]]), r"got nan in observation\[1\]"),
        (BOX, np.array([["0.5", "much"]]), "could not convert string to float: .*'much'"),
        (IMAGE, images(0.0, 0.5, dtype=np.float32), rf"{SCALED}float32 from 0\.0 to 0\.5 in obs"),
        (IMAGE, images(0, np.nan, dtype=np.float64), rf"{SCALED}float64 from nan to nan"),
        (IMAGE, images(0, 256, dtype=np.int64), rf"{SCALED}int64 from 0 to 256"),
        (IMAGE, images(-1, 0, dtype=np.int8), rf"{SCALED}int8 from -1 to 0"),
        (DICT, seen(place=np.array([[np.inf, 0.0]])), r"inf in place\[0\] \(row 0\)"),
        (DICT, seen(camera=images(0, 0.5, dtype=np.float32)), rf"{SCALED}.* in camera"),
    ],
)
def test_what_the_policy_would_misread_is_refused(space, observation, told):
    with pytest.raises(ValueError, match=told):
        check(space, observation)


class Fears:
    """A plugin that refuses to act far from 0."""

    @hookimpl
    def rlk_check_observation(self, run):
        self.run = run
        return self.check

    def check(self, observation):
        if np.abs(observation).max() > 5:
            raise ValueError("too far from home")


@pytest.mark.parametrize(
    ("observation", "told"),
    [([0.0, 9.0, 0.0], "too far from home"), ([0.0, np.nan, 0.0], r"got nan in observation\[1\]")],
)
def test_an_agent_predicts_only_from_what_is_checked(make, observation, told):
    plugin = Fears()
    agent = make(plugin)
    assert plugin.run is agent.run
    agent.learn(8)
    with pytest.raises(ValueError, match=told):
        agent.predict(observation)
    with pytest.raises(ValueError, match=told):
        agent.predict([[0.0, 0.0, 0.0], observation])
    assert agent.run.action_space.contains(agent.predict([0.0, 5.0, 0.0])[0])
    assert isinstance(agent.run.action_space, gym.spaces.Discrete)
    assert len(Acting(agent.run, checked=False).predict([observation] * 2)[0]) == 2


def test_probabilities_are_only_told_of_what_is_checked(make):
    from rlk_testing.stand_ins import RandomActor, StandIn

    class Telling(RandomActor):
        def probabilities(self, observation, carry, episode_start):
            return np.full((len(observation), 2), 0.5)

        def log_prob(self, observation, carry, episode_start, actions): ...

    class Tells(StandIn):
        def actor(self, rng=None):
            return Telling(self.run.action_space, rng or np.random.default_rng(0))

    agent = make(algorithm=Tells)
    assert agent.action_probability([0.0, 0.0, 0.0]).tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="takes finite observations"):
        agent.action_probability([0.0, np.inf, 0.0])
