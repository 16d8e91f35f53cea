"""Groups whose calls a runner makes: the README's example of a backend, and what is refused."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import EnvironmentFailed
from rlk_testing import VecEnvContract
from rlk_testing.environments import Walk
from rlk_testing.examples import defined_in
from rlk_vector_environments.group_vec_env import GroupVecEnv

ZEROS = np.zeros(3, np.int64)


README = Path(__file__).parents[1] / "README.md"
THREADS = Component(
    name="threads",
    factory=defined_in(README, "class ThreadsVecEnv")["ThreadsVecEnv"],
    summary="steps environments in threads",
)


class TestThreads(VecEnvContract):
    component = THREADS


class ByHand:
    """Two groups, whose calls are made when a test says so."""

    n_groups = 2

    def __init__(self):
        self.calls, self.left, self.closed = [], [], False

    def begin(self, calls):
        self.calls, self.left = list(calls), [0, 1]

    def results(self):
        self.left = []
        return [call() for call in self.calls]

    def working(self):
        return self.left

    def close(self):
        self.closed = True


def vector_of(runner, env_fns=(Walk, Walk, Walk)):
    vector = GroupVecEnv(list(env_fns), runner=runner)
    vector.reset(seed=0)
    return vector


def test_groups_are_contiguous_shares_and_a_step_is_begun_by_step_async():
    runner = ByHand()
    vector = vector_of(runner)
    assert [group.envs for group in vector._groups] == [vector.envs[:2], vector.envs[2:]]
    runner.calls = []
    vector.step_async(ZEROS)
    assert len(runner.calls) == 2 and runner.left == [0, 1]
    vector.step_wait()
    assert runner.left == []


def test_a_call_into_the_environments_is_refused_while_a_step_runs():
    vector = vector_of(ByHand())
    vector.step_async(ZEROS)
    for call in (
        lambda: vector.call("steps_left"),
        lambda: vector.get_attr("label"),
        lambda: vector.set_attr("label", "x"),
        lambda: vector.set_state([{}] * 3),
        vector.get_state,
        vector.render,
    ):
        with pytest.raises(gym.error.AlreadyPendingCallError, match="step_wait"):
            call()
    vector.step_wait()
    vector.set_attr("label", ["a", "b", "c"])
    assert vector.get_attr("label", indices=[2, 0]) == ("c", "a")


def test_a_reset_waits_for_a_step_that_was_begun_and_drops_it():
    runner = ByHand()
    vector = vector_of(runner)
    vector.step_async(ZEROS)
    vector.reset(seed=0)
    assert runner.left == [] and vector.call("steps_left") == vector_of(ByHand()).call("steps_left")


def test_after_an_interruption_the_environments_that_may_hang_are_named_and_left_open(zoo):
    class Interrupted(ByHand):
        def results(self):
            if self.hangs:
                self.left = [1]
                raise KeyboardInterrupt
            return super().results()

    runner = Interrupted()
    runner.hangs = False
    vector = vector_of(runner, [zoo.Everything] * 3)
    runner.hangs = True
    with pytest.raises(KeyboardInterrupt):
        vector.step(ZEROS)
    for call in (lambda: vector.step(ZEROS), vector.reset, vector.get_state):
        with pytest.raises(EnvironmentFailed, match=r"may hang: 2\. .*make a new one"):
            call()
    vector.close()
    assert runner.closed
    assert [env.was_closed for env in vector.envs] == [True, True, False]


def test_a_runner_is_closed_where_an_environment_cannot_be_made():
    def fails():
        raise OSError("no licence")

    runner = ByHand()
    with pytest.raises(EnvironmentFailed, match="environment 1 failed when it was made"):
        GroupVecEnv([Walk, fails], runner=runner)
    assert runner.closed
