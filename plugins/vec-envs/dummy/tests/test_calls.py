"""Calls into the environments of a DummyVecEnv, and what closing it does."""

from __future__ import annotations

import functools

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed


def test_methods_and_attributes_are_reached_through_the_wrappers(make, zoo):
    vector = make([lambda: gym.wrappers.TimeLimit(zoo.Everything(), 9)] * 3)
    vector.reset()
    assert vector.call("add", 2, times=3) == (6, 6, 6)
    assert vector.call_at([2, 0], "add", 1) == (1, 1)
    assert vector.call("time") == (0, 0, 0)
    assert vector.get_attr("_max_episode_steps") == (9, 9, 9)
    assert len(vector.get_attr("time", indices=[1])) == 1
    vector.set_attr("time", [1, 2, 3])
    vector.set_attr("time", 7, indices=[0])
    assert vector.get_attr("time") == (7, 2, 3)
    assert [env.unwrapped.time for env in vector.envs] == [7, 2, 3]
    with pytest.raises(ValueError, match="a value for each environment, 3 in all; got 2"):
        vector.set_attr("time", (1, 2))
    with pytest.raises(AttributeError, match="environment 0 has no attribute 'mass'"):
        vector.get_attr("mass")
    with pytest.raises(EnvironmentFailed, match="environment 2 failed in add: TypeError"):
        vector.call_at([2], "add", "x")


def test_it_renders_every_environment_and_closes_every_one(make, zoo):
    vector = make([functools.partial(zoo.Everything, render_mode="rgb_array")] * 2)
    assert vector.render_mode == "rgb_array"
    vector.reset()
    assert [frame.shape for frame in vector.render()] == [(2, 2, 3)] * 2
    vector.close()
    vector.close()
    assert vector.closed and all(env.was_closed for env in vector.envs)


def test_a_failure_to_close_does_not_keep_the_others_open(make, zoo):
    class Stuck(zoo.Everything):
        def close(self):
            raise RuntimeError("stuck")

    vector = make([Stuck, zoo.Everything])
    with pytest.raises(EnvironmentFailed, match=r"environment 0 failed in close: .*: stuck"):
        vector.close()
    assert vector.envs[1].was_closed and vector.closed


def test_a_call_into_the_environments_is_refused_between_the_halves_of_a_step(make, zoo):
    vector = make([zoo.Everything] * 3)
    vector.reset(seed=0)
    vector.step_async(np.zeros(3, np.int64))
    for call in (
        lambda: vector.call("add", 1),
        lambda: vector.get_attr("time"),
        lambda: vector.set_attr("time", 1),
        lambda: vector.set_state([{}] * 3),
        vector.get_state,
        vector.render,
    ):
        with pytest.raises(gym.error.AlreadyPendingCallError, match="step_wait"):
            call()
    vector.step_wait()
    vector.set_attr("time", [1, 2, 3])
    assert vector.get_attr("time", indices=[2, 0]) == (3, 1)


def test_a_closed_vector_takes_no_more_calls(make):
    vector = make([lambda: gym.make("CartPole-v1")])
    vector.reset()
    state = vector.get_state()
    vector.close()
    for call in (
        vector.reset,
        lambda: vector.step(np.array([0])),
        vector.render,
        vector.get_state,
        lambda: vector.set_state(state),
        lambda: vector.get_attr("spec"),
        lambda: vector.set_attr("x", 1),
        lambda: vector.call("reset"),
    ):
        with pytest.raises(gym.error.ClosedEnvironmentError, match="make a new one"):
            call()
