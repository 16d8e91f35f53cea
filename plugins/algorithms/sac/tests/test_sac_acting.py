"""How SAC acts: its policy, random actions, noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rlk

MATCH = "rlk_testing.environments:BoxMatch"
SMALL = {"learning_starts": 50, "batch_size": 32, "policy": {"layers": [32]}}


# ---- how it acts ---------------------------------------------------------------------------------


def acted(rlk_make, steps, **settings):
    """Actions that were stored, [steps, N, 2], and what the environments got."""
    agent = rlk_make("sac", env=MATCH, seed=0, batch_size=8, policy={"layers": [8]}, **settings)
    act, found = agent.run.actor.act, []

    class Watches:
        metrics, start = agent.run.actor.metrics, agent.run.actor.start

        def act(self, *arguments):
            found.append(act(*arguments))
            return found[-1]

    agent.run.actor = Watches()
    agent.learn(steps)
    return np.stack([a.action for a in found]), np.stack([a.env_action for a in found])


def test_actions_are_uniform_over_the_bounds_until_learning_starts(rlk_make):
    stored, given = acted(rlk_make, 4000, learning_starts=4000, train_freq=1000, n_envs=4)
    stored, given = stored.reshape(-1, 2), given.reshape(-1, 2)
    # Uniform over -1 to 1: the mean of 4,000 is within 0.05, the variance within 3 % of 1/3.
    assert np.abs(stored.mean(0)).max() < 0.05
    assert stored.var(0) == pytest.approx([1 / 3, 1 / 3], rel=0.05)
    assert abs(np.corrcoef(stored.T)[0, 1]) < 0.08
    assert np.allclose(given, [0.5, 0.25] + stored * [1.5, 0.25], atol=1e-6)


def test_the_policy_acts_from_then_on(rlk_make):
    agent = rlk_make("sac", env=MATCH, seed=0, learning_starts=20)
    with torch.no_grad():
        agent.run.policy.pi.out.weight.zero_()
        agent.run.policy.pi.out.bias.copy_(torch.tensor([3.0, -3.0, -20.0, -20.0]))
    act, x, start = agent.run.actor.act, np.zeros((1, 2), np.float32), np.zeros(1, bool)
    for timesteps, random in ((0, True), (19, True), (20, False), (500, False)):
        agent.run.clock.timesteps = timesteps
        found = act(x, None, start).action[0]
        assert np.allclose(found, np.tanh([3.0, -3.0]), atol=1e-4) != random


def test_random_exploration_is_the_probability_of_a_random_action(rlk_make):
    class Still:
        """Chooses 5, which no random action is; counts how often it is asked."""

        asked = 0

        def start(self, n_envs):
            return None

        def metrics(self):
            return {}

        def act(self, observation, carry, episode_start, deterministic=False):
            self.asked += 1
            action = np.full((len(episode_start), 2), 5.0, np.float32)
            return rlk.records.Act(action, action, carry, {})

    agent = rlk_make("sac", env=MATCH, seed=0, learning_starts=0, random_exploration=0.3, n_envs=8)
    actor = agent.run.algorithm.explore(Still())
    acts = [actor.act(None, None, np.zeros(8, bool)) for _ in range(500)]
    random = np.stack([act.action for act in acts]) != 5.0
    assert np.array_equal(random[..., 0], random[..., 1])
    # Binomial with n = 4,000 and p = 0.3: five standard deviations are 145.
    assert abs(random[..., 0].sum() - 1200) < 145
    kept = actor.act(None, None, np.zeros(8, bool), deterministic=True)
    assert (kept.action == 5.0).all()


def test_what_the_inner_actor_carries_lives_on_through_random_actions(rlk_make):
    settings = {"action_noise": "ornstein-uhlenbeck-noise:sigma=0.5", "learning_starts": 1000}
    agent = rlk_make("sac", env=MATCH, seed=0, n_envs=2, **settings)
    actor = agent.run.actor
    carry = actor.start(2)
    found = actor.act(np.zeros((2, 2), np.float32), carry, np.zeros(2, bool))
    assert found.carry["noise"].any() and not carry["noise"].any()


def test_noise_is_added_where_actions_go_from_minus_one_to_one(rlk_make):
    stored, given = acted(
        rlk_make, 50, learning_starts=0, action_noise="normal-noise:mean=[2.0,-2.0],sigma=0"
    )
    assert (stored == [1.0, -1.0]).all() and (given == [2.0, 0.0]).all()


def test_predicting_neither_explores_nor_adds_noise(rlk_make):
    agent = rlk_make("sac", env=MATCH, seed=0, action_noise="normal-noise:mean=2.0", **SMALL)
    actor = agent.run.algorithm.actor(np.random.default_rng(0))
    x = np.zeros((4, 2), np.float32)
    parameters = agent.run.policy(torch.zeros(4, 2), "pi")[0].detach()
    found = actor.act(x, None, np.zeros(4, bool), True).action
    assert np.allclose(found, torch.tanh(parameters[:, :2]).numpy(), atol=1e-6)
    action, _ = agent.predict(x, deterministic=True)
    assert np.allclose(action, [0.5, 0.25] + found * [1.5, 0.25], atol=1e-6)


def test_acting_is_the_formula_on_its_network(rlk_make):
    agent = rlk_make("sac", env=MATCH, seed=0)
    actor = agent.run.algorithm.actor(np.random.default_rng(7))
    x = np.random.default_rng(1).normal(size=(5, 2)).astype(np.float32)
    found = actor.act(x, None, np.zeros(5, bool)).action
    noise = np.random.default_rng(7).standard_normal((5, 2), dtype=np.float32)
    parameters = agent.run.policy(torch.from_numpy(x), "pi")[0].detach().numpy()
    expected = np.tanh(parameters[:, :2] + np.exp(parameters[:, 2:]) * noise)
    assert np.allclose(found, expected, atol=1e-5)
