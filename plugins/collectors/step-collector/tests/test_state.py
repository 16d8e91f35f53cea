"""What the next collection starts from, also in the middle of one, and what it takes over."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk import hookimpl
from rlk.episode_ends import LOST
from rlk.errors import EnvironmentFailed, RlkError
from rlk_testing.environments import Walk


class CountsSteps:
    """Another actor, whose carry is the number of its actions."""

    def __init__(self, actor):
        self.actor, self.metrics = actor, actor.metrics
        self.begun = []

    def start(self, n_envs):
        return 0

    def act(self, observation, carry, episode_start, deterministic=False):
        self.begun.append(episode_start.tolist())
        act = self.actor.act(observation, None, episode_start, deterministic)
        return act._replace(carry=carry + 1)


class Counting:
    @hookimpl(tryfirst=True)
    def rlk_make_actor(self, actor):
        return CountsSteps(actor)


class LooksInside:
    """Compares the collector's state with each step, in the middle of a collection."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def rlk_step(self, run, step):
        state = run.collector.state_dict()
        assert np.array_equal(state["observation"], step.next_observation)
        assert state["start"].tolist() == (step.terminated | step.truncated).tolist()
        self.seen.append((state["carry"], any(state["start"])))


def test_a_listener_sees_the_state_after_its_step(make):
    looks = LooksInside()
    make(plugins=[Counting(), looks], n_envs=2, n_steps=10).learn(40)
    assert [carry for carry, _ in looks.seen] == list(range(1, 21))
    assert [is_end for _, is_end in looks.seen] == [step % 8 == 0 for step in range(1, 21)]


def test_a_state_is_not_changed_by_what_is_collected_after_it(make):
    collector = make(n_envs=2, n_steps=3).run.collector
    collector.collect()
    state = collector.state_dict()
    before = copy.deepcopy(state)
    for _ in range(2):
        collector.collect()
    assert state["lengths"].tolist() == before["lengths"].tolist() == [3, 3]
    for name in ("observation", "start", "returns"):
        assert np.array_equal(state[name], before[name]), name


def test_a_state_comes_back_whole(make):
    agent = make(plugins=[Counting()], n_envs=2, n_steps=3)
    collector = agent.run.collector
    collector.collect()
    state = collector.state_dict()
    collector.forget()
    assert collector.state_dict()["start"].tolist() == [True, True]
    collector.load_state_dict(state)
    again = collector.state_dict()
    assert again["carry"] == state["carry"] == 3
    for name in ("observation", "start", "returns", "lengths"):
        assert np.array_equal(again[name], state[name]), name
    collector.collect()
    assert agent.run.actor.begun == [[True, True]] + [[False, False]] * 5


def test_a_state_of_another_actor_or_of_other_environments_is_refused(make):
    collector = make(n_envs=2).run.collector
    collector.collect()
    state = collector.state_dict()
    with pytest.raises(RlkError, match="the saved carry is not one of this actor's"):
        collector.load_state_dict({**state, "carry": np.zeros(2)})
    with pytest.raises(EnvironmentFailed, match="gave a wrong observation"):
        collector.load_state_dict({**state, "observation": state["observation"][:1]})


def test_a_collection_that_a_listener_stopped_is_not_continued_from_a_checkpoint(tmp_path):
    with rlk.make("a2c", env=Walk, n_steps=8, seed=0, n_threads=1) as agent:
        agent.learn(100, callback=lambda run: run.timesteps < 19)
        path = agent.save_checkpoint(tmp_path / "checkpoint")
        agent.learn(32, reset_num_timesteps=False)
        expected = agent.run.parameters.flat.clone()
    with rlk.load(path, env=Walk) as again:
        again.learn(32, reset_num_timesteps=False)
        assert torch.equal(again.run.parameters.flat, expected)


class Lives(gym.Env):
    """A game of eight steps whose first life ends after the third."""

    observation_space, action_space = gym.spaces.Box(0.0, 1.0, (1,)), gym.spaces.Discrete(2)
    played = 0

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.played = self.played % 8 + 1
        is_over, info = self.played in (3, 8), {"goes_on": self.played == 3}
        return np.zeros(1, np.float32), 1.0, is_over, False, info


def test_an_episode_is_a_whole_game_whose_lives_end(make):
    agent = make(env=Lives)
    agent.learn(16)
    assert list(agent.run.metrics.recent_episodes) == [(8.0, 8)] * 2
    assert agent.run.clock.episodes == 2


class LosesItsSecond(gym.Env):
    """Episodes of four steps, of which the second breaks off in its third step."""

    observation_space, action_space = gym.spaces.Box(0.0, 1.0, (1,)), gym.spaces.Discrete(2)
    episode = 0

    def reset(self, *, seed=None, options=None):
        self.episode, self.steps = self.episode + 1, 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        if self.episode == 2 and self.steps == 3:
            return np.zeros(1, np.float32), 0.0, False, True, {LOST: True}
        return np.zeros(1, np.float32), 1.0, False, self.steps == 4, {}


def test_nothing_of_an_episode_that_broke_off_counts_in_the_next(make):
    agent = make(env=LosesItsSecond, n_steps=5)
    agent.learn(15)
    assert list(agent.run.metrics.recent_episodes) == [(4.0, 4)] * 3


def figures(return_, length):
    return {"r": np.array([return_]), "l": np.array([length])}


def test_a_monitor_inside_wins_over_one_around_all_environments_and_that_over_none(make):
    collector = make().run.collector
    collector.collect()
    final = np.empty(1, object)
    final[0] = collector.state_dict()["observation"][0]
    infos = {"final_obs": final, "episode": figures(5.0, 4)}
    collector._ended(np.array([True]), infos)
    collector._ended(np.array([True]), {**infos, "final_info": {"episode": figures(7.0, 6)}})
    returns = [return_ for return_, _ in collector.run.metrics.recent_episodes]
    assert returns[-2:] == [5.0, 7.0]
