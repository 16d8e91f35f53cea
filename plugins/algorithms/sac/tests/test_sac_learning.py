"""What SAC learns, with other policies and spaces, and gone on with from a file."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk_off_policy.batch_noise import with_noise
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:BoxMatch"
SMALL = {"learning_starts": 50, "batch_size": 32, "policy": {"layers": [32]}}


def batch_of(agent, rows):
    """Transitions of the agent's replay with the noise that an update takes."""
    run = agent.run
    rng = run.streams.numpy("update")
    noise = {name: run.distribution.noise(rng, rows) for name in ("noise", "next_noise")}
    return with_noise(run.storage.sample(rows), "cpu", **noise)


# ---- what it learns ------------------------------------------------------------------------------


def test_it_learns_actions_between_bounds_that_are_not_symmetric(rlk_make):
    settings = {"gamma": 0.0, "learning_rate": 0.01, "ent_coef": "auto_0.1", **SMALL}
    agent = rlk_make("sac", env=MATCH, seed=0, **settings)
    agent.learn(450)
    assert mean_return(agent, MATCH) >= 7.4  # of 8; actions at random have 5.3


def test_it_learns_with_several_environments_and_priorities(rlk_make):
    settings = {"gamma": 0.5, "learning_rate": 0.01, "ent_coef": "auto_0.1", **SMALL}
    told = {"n_envs": 4, "plugins": ["prioritized-replay"], "gradient_steps": -1}
    agent = rlk_make("sac", env=MATCH, seed=0, **told, **settings)
    agent.learn(500)
    assert mean_return(agent, MATCH) >= 6.9


class Steady(gym.Env):
    """One state, reward 1 whatever is done; episodes of two steps that end or are cut off."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, ends=False):
        self.ends, self.steps = ends, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.ones(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        over = self.steps >= 2
        return np.ones(1, np.float32), 1.0, over and self.ends, over and not self.ends, {}


@pytest.mark.parametrize(("ends", "low", "high"), [(False, 1.9, 2.1), (True, 1.1, 1.8)])
def test_the_value_of_an_episode_that_is_cut_off_counts_what_would_have_come(
    rlk_make, ends, low, high
):
    """Reward 1 and gamma 0.5 for ever are worth 2; two steps alone 1 or 1.5, which look alike."""
    settings = {"gamma": 0.5, "learning_rate": 0.01, "ent_coef": 0.0, "tau": 0.05, **SMALL}
    agent = rlk_make("sac", env=lambda: Steady(ends), seed=0, **settings)
    agent.learn(300)
    q = agent.run.policy.qf(torch.ones(1, 1), torch.zeros(1, 1))
    assert low < float(q.detach().min()) < high


def test_its_entropy_becomes_the_one_that_is_wanted(rlk_make):
    wanted = -2.5  # the first policies have more
    settings = {"gamma": 0.0, "learning_rate": 0.01, "target_entropy": wanted, **SMALL}
    agent = rlk_make("sac", env=MATCH, seed=0, **settings)
    agent.learn(700)
    batch = batch_of(agent, 512)
    found = agent.run.algorithm.actor_loss(batch).metrics["actor_entropy"].detach()
    assert float(found) == pytest.approx(wanted, abs=0.4)


# ---- other policies and spaces -------------------------------------------------------------------


def test_a_shared_encoder_is_trained_by_the_critics_alone(rlk_make):
    settings = {"policy.net_arch": [16, {"pi": [8], "qf": [8]}], "learning_starts": 60}
    agent = rlk_make("sac", env=MATCH, seed=0, batch_size=16, **settings)
    agent.learn(59)
    run = agent.run
    batch = batch_of(agent, 16)
    shared = next(run.policy.shared.parameters())
    before = shared.detach().clone()
    run.optimise("actor", run.algorithm.actor_loss, batch)
    assert before.equal(shared)
    run.optimise("critic", run.algorithm.critic_loss, batch, run.algorithm.soft_target(batch))
    assert not before.equal(shared)


def test_it_learns_from_images(rlk_make):
    env = {"id": "rlk_testing.environments:Walk", "observation": "image", "continuous": True}
    agent = rlk_make("sac", env=env, seed=0, learning_starts=20, batch_size=8)
    before = agent.run.parameters.flat.clone()
    agent.learn(40)
    assert not before.equal(agent.run.parameters.flat)
    assert agent.run.storage.sample(2).observation.dtype == torch.uint8


def test_actions_of_several_axes_are_stored_flat_and_done_in_their_shape(rlk_make):
    class Board(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gym.spaces.Box(-1.0, 3.0, (2, 3), np.float32)

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.float32), {}

        def step(self, action):
            assert action.shape == (2, 3) and self.action_space.contains(action)
            return np.zeros(2, np.float32), float(action.sum()), False, False, {}

    agent = rlk_make("sac", env=Board, seed=0, n_envs=2, action_noise="normal-noise", **SMALL)
    agent.learn(80)
    assert agent.run.storage.sample(4).action.shape == (4, 6)
    assert agent.predict(np.zeros(2, np.float32))[0].shape == (2, 3)


# ---- going on from a file ------------------------------------------------------------------------


def test_its_state_has_the_target_and_the_entropys_weight_of_the_model(rlk_make, tmp_path):
    agent = rlk_make("sac", env=MATCH, seed=0, **SMALL)
    agent.learn(100)
    loaded = rlk.load(agent.save(tmp_path / "model"), env=MATCH)
    coefficient = agent.run.algorithm.alpha.value()
    assert coefficient != 1.0 and loaded.run.algorithm.alpha.value().equal(coefficient)
    assert loaded.run.algorithm.target.flat.equal(agent.run.algorithm.target.flat)
    loaded.close()
