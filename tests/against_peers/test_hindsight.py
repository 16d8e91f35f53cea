"""Hindsight replay: which goals a transition gets, and their rewards, as in Stable-Baselines3."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from against_peers.side_by_side import sb3
from gymnasium import spaces

import rlk_sb3

PLACE = spaces.Box(-1e4, 1e4, (2,), np.float32)
LENGTHS = 4, 6


class Numbered(gym.Env):
    """Each step reaches a goal of its own, (episode, step); episodes have 4 and 6 steps in turn."""

    observation_space = spaces.Dict(
        {"observation": PLACE, "achieved_goal": PLACE, "desired_goal": PLACE}
    )
    action_space = spaces.Discrete(2)

    def __init__(self, truncates):
        self.truncates, self.episode = truncates, -1

    def reset(self, *, seed=None, options=None):
        self.episode, self.number = self.episode + 1, 0
        return self.observed(), {}

    def observed(self):
        here = np.array([self.episode, self.number], np.float32)
        wanted = np.array([-1, self.episode], np.float32)
        return {"observation": here, "achieved_goal": here.copy(), "desired_goal": wanted}

    def compute_reward(self, achieved_goal, desired_goal, info):
        parts = achieved_goal * np.float32([1, 0.1]) - desired_goal * np.float32([0.01, 0.001])
        return parts.sum(-1)

    def step(self, action):
        self.number += 1
        seen, is_last = self.observed(), self.number == LENGTHS[self.episode % 2]
        reward = self.compute_reward(seen["achieved_goal"], seen["desired_goal"], {})
        ends = (False, is_last) if self.truncates else (is_last, False)
        return seen, float(reward), *ends, {}


def sampled(library, strategy, *, truncates, n_envs, timesteps, buffer_size):
    """What is sampled, {(state, goal, reward, end), …}, and the share of goals in hindsight."""
    worlds = [lambda: Numbered(truncates)] * n_envs
    model = library.DQN(
        "MultiInputPolicy",
        library.common.vec_env.DummyVecEnv(worlds),
        replay_buffer_class=library.HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": strategy},
        learning_starts=10**6,
        buffer_size=buffer_size,
        batch_size=8,
        seed=0,
    )
    found = model.learn(timesteps).replay_buffer.sample(20_000)
    goals = found.observations["desired_goal"]
    assert goals.equal(found.next_observations["desired_goal"])
    columns = [found.observations["observation"], goals, found.rewards, found.dones]
    rows = np.concatenate(columns, 1).round(3)
    return {tuple(row) for row in rows.tolist()}, float((goals[:, 0] >= 0).float().mean())


@pytest.mark.parametrize("n_envs", [1, 2])
@pytest.mark.parametrize("truncates", [False, True])
@pytest.mark.parametrize("strategy", ["future", "final", "episode"])
def test_transitions_get_the_same_goals_and_rewards(strategy, truncates, n_envs):
    size = {"n_envs": n_envs, "timesteps": 20 * n_envs, "buffer_size": 100}
    (there, share), (here, own_share) = (
        sampled(library, strategy, truncates=truncates, **size) for library in (sb3, rlk_sb3)
    )
    assert here == there
    assert share == pytest.approx(0.8, abs=0.02) and own_share == pytest.approx(0.8, abs=0.02)


def test_of_an_episode_that_is_partly_overwritten_the_rest_can_be_sampled_here_and_not_there():
    size = {"n_envs": 1, "timesteps": 40, "buffer_size": 24}
    (there, _), (here, _) = (
        sampled(library, "future", truncates=True, **size) for library in (sb3, rlk_sb3)
    )
    assert there < here
    assert {row[:2] for row in here - there} == {(3.0, step) for step in (2.0, 3.0, 4.0, 5.0)}
