"""Vector environments may return the same arrays in every step: what is stored stays right."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlk import hookimpl
from rlk_step_collector.reused_arrays import share_memory

BOX = gym.spaces.Box(-1e9, 1e9, (1,))


class Counts(gym.vector.VectorEnv):
    """Two environments whose observation is the number of steps since the reset.

    Args:
        gives: what it returns: a view of its "state", or "copies" of it; "state after reset" is
            its state except in a reset, "dict" is its state in a dict.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    num_envs = 2
    single_action_space = gym.spaces.Discrete(2)

    def __init__(self, gives):
        self.gives, self.state = gives, np.zeros((2, 1), np.float32)
        space = gym.spaces.Dict(count=BOX) if gives == "dict" else BOX
        self.single_observation_space, self.observation_space = space, batch_space(space, 2)
        self.action_space = batch_space(self.single_action_space, 2)

    def reset(self, *, seed=None, options=None):
        self.state[:] = 0
        return self.given("state after reset"), {}

    def step(self, actions):
        self.state += 1
        no = np.zeros(2, bool)
        return self.given(), np.ones(2, np.float32), no, no, {}

    def given(self, copied=""):
        if self.gives == "dict":
            return {"count": self.state[:]}
        self.latest = self.state.copy() if self.gives in ("copies", copied) else self.state[:]
        return self.latest


class Pairs:
    """Keeps the observation before and after each step of the first environment."""

    def __init__(self):
        self.found, self.copied = [], []

    @hookimpl
    def rlk_step(self, run, step):
        pair = (step.observation, step.next_observation)
        if isinstance(step.observation, dict):
            pair = tuple(one["count"] for one in pair)
        else:
            self.copied.append(step.next_observation is not run.env.unwrapped.latest)
        self.found.append(tuple(int(one[0, 0]) for one in pair))


@pytest.mark.parametrize("n_steps", [1, 5])
@pytest.mark.parametrize("gives", ["state", "state after reset", "dict", "copies"])
def test_observations_before_and_after_a_step_stay_apart(make, gives, n_steps):
    pairs = Pairs()
    agent = make(plugins=[pairs], env=Counts(gives), n_steps=n_steps)
    agent.learn(20)
    agent.run.collector.forget()
    agent.learn(20, reset_num_timesteps=False)
    assert pairs.found == [(t, t + 1) for t in range(10)] * 2


def test_a_continued_collection_finds_out_again(make):
    pairs, env = Pairs(), Counts("state")
    collector = make(plugins=[pairs], env=env, n_steps=5).run.collector
    collector.collect()
    state = collector.state_dict()
    collector.forget()
    collector.load_state_dict(state)
    collector.collect()
    assert pairs.found == [(t, t + 1) for t in range(10)]


def test_arrays_that_are_new_in_every_step_are_copied_in_two_steps_alone(make):
    pairs = Pairs()
    make(plugins=[pairs], env=Counts("copies"), n_steps=5).learn(20)
    assert pairs.copied == [True, True] + [False] * 8


def test_other_environments_are_compared_with_nothing_of_the_old_ones(make):
    pairs = Pairs()
    agent = make(plugins=[pairs], env=Counts("copies"), n_steps=1)
    agent.learn(2)
    agent.set_env(Counts("state"))
    agent.learn(20, reset_num_timesteps=False)
    assert pairs.found == [(0, 1)] + [(t, t + 1) for t in range(10)]


def test_one_part_of_a_dict_in_the_same_memory_is_enough():
    same = np.zeros(2)
    assert share_memory({"a": np.zeros(2), "b": same}, {"a": np.zeros(2), "b": same[:1]})
    assert not share_memory({"a": np.zeros(2)}, {"a": np.zeros(2)})


class InTurn(Counts):
    """Writes into two arrays in turn, as rlk's own backends do."""

    def __init__(self):
        super().__init__("copies")
        self.slots = np.zeros((2, 2, 1), np.float32)

    def given(self, copied=""):
        slot = self.slots[int(self.state[0, 0]) % 2]
        slot[:] = self.state
        return slot


def test_a_saved_observation_is_not_overwritten_by_later_steps(make):
    collector = make(env=InTurn(), n_steps=3).run.collector
    collector.collect()
    state = collector.state_dict()
    for _ in range(2):
        collector.collect()
    assert state["observation"].tolist() == [[3.0], [3.0]]
