from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch
from torch.nn import functional

from rlk.errors import PlanError
from rlk.records import Batch
from rlk_dqn import DQNConfig
from rlk_testing import AlgorithmContract, OffPolicyContract
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:DiscreteMatch"
FOREVER = "rlk_testing.environments:Forever"
QUICK = {
    "learning_starts": 50,
    "batch_size": 32,
    "target_network_update_freq": 50,
    "learning_rate": 0.01,
    "policy": {"layers": [32]},
}


class TestDQN(OffPolicyContract):
    component = "dqn"
    warms_up = False  # it explores by a noise, epsilon-greedy
    target_stays = {"target_network_update_freq": 1_000_000}
    critic = "q"


class TestDQNWithPriorities(AlgorithmContract):
    component = "dqn"
    variant = True
    settings = {"prioritized_replay": True, "dueling": False, "gradient_steps": 2}


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    config = attrs.asdict(DQNConfig())
    seed = {
        "gamma": 0.99,
        "learning_rate": 0.0005,
        "buffer_size": 50_000,
        "exploration_fraction": 0.1,
        "exploration_final_eps": 0.02,
        "exploration_initial_eps": 1.0,
        "train_freq": 1,
        "batch_size": 32,
        "double_q": True,
        "learning_starts": 1000,
        "target_network_update_freq": 500,
        "prioritized_replay": False,
        "prioritized_replay_alpha": 0.6,
        "prioritized_replay_beta0": 0.4,
        "prioritized_replay_beta_iters": None,
        "prioritized_replay_eps": 1e-6,
        "param_noise": False,
    }
    others = {"dueling": True, "gradient_steps": 1, "max_grad_norm": 10.0, "tau": 1.0}
    assert config == {**seed, **others}


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.5},
        {"gradient_steps": 0},
        {"gradient_steps": -2},
        {"train_freq": 0},
        {"learning_rate": "lin"},
        {"max_grad_norm": 0.0},
        {"exploration_final_eps": -0.1},
        {"tau": 0.0},
        {"tau": 1.1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DQNConfig(**wrong)


def test_its_exploration_settings_reach_the_noise(rlk_make):
    agent = rlk_make(
        "dqn",
        env=MATCH,
        exploration_fraction=0.5,
        exploration_initial_eps=0.8,
        exploration_final_eps=0.1,
    )
    noise = agent.plan.noises[0].config
    assert (noise.fraction, noise.initial_eps, noise.final_eps) == (0.5, 0.8, 0.1)


def test_its_buffer_size_reaches_the_replay(rlk_make):
    agent = rlk_make("dqn", env=MATCH, buffer_size=77)
    assert agent.plan.storages[0].config.buffer_size == 77


def test_priorities_may_count_more_than_in_proportion(rlk_make):
    agent = rlk_make("dqn", env=MATCH, prioritized_replay=True, prioritized_replay_alpha=1.5)
    assert agent.plan.storages[1].config.alpha == 1.5


def test_continuous_actions_are_refused(rlk_make):
    with pytest.raises(PlanError, match="Discrete"):
        rlk_make("dqn", env="rlk_testing.environments:BoxMatch")


# ---- when it learns ------------------------------------------------------------------------------


def test_a_buffer_that_never_holds_a_batch_is_refused(rlk_make):
    with pytest.raises(PlanError, match="would never learn"):
        rlk_make("dqn", env=MATCH, buffer_size=32, batch_size=32, n_envs=3)


SOON = {"learning_starts": 10, "batch_size": 8}


class StubStorage:
    def __len__(self):
        return 99

    def sample(self, size):
        return None


def target_moves(agent, timesteps):
    """The timesteps at which the target network was copied."""
    copies, storage = [], agent.run.storage
    before = agent.run.algorithm.target.flat.clone()
    batches = agent.run.algorithm.batches

    def watched(store):
        nonlocal before
        yield from batches(store)
        if not before.equal(agent.run.algorithm.target.flat):
            copies.append(agent.run.timesteps)
            before = agent.run.algorithm.target.flat.clone()

    agent.run.algorithm.batches = watched
    agent.learn(timesteps)
    assert storage is agent.run.storage
    return copies


def test_the_target_network_is_copied_every_so_many_timesteps(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, target_network_update_freq=25, **SOON)
    assert target_moves(agent, 100) == [25, 50, 75, 100]


def test_a_copy_that_is_due_waits_for_the_next_updates(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, target_network_update_freq=25, **SOON)
    run, algorithm = agent.run, agent.run.algorithm
    run.parameters.flat.add_(1.0)
    copied = []
    for run.clock.timesteps, due in ((24, 1), (26, 0), (27, 1)):
        algorithm.schedule.updates_due = lambda stored, due=due: due
        next(iter(algorithm.batches(StubStorage())), None)
        copied.append(algorithm.target.flat.equal(run.parameters.flat))
    assert copied == [False, False, True]


def test_with_tau_the_target_network_moves_by_a_part_of_the_difference(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, target_network_update_freq=10, tau=0.25, **SOON)
    agent.learn(9)
    run = agent.run
    target, before = run.algorithm.target.flat, run.algorithm.target.flat.clone()
    run.parameters.flat.add_(4.0)
    run.collect()
    list(run.algorithm.batches(run.storage))
    assert torch.allclose(target, before + 1.0)


def test_with_tau_it_moves_once_for_each_vector_step_between_updates(rlk_make):
    settings = {**SOON, "train_freq": 4, "target_network_update_freq": 2, "tau": 0.25}
    run = rlk_make("dqn", env=MATCH, seed=0, **settings).run
    before = run.algorithm.target.flat.clone()
    run.parameters.flat.add_(16.0)
    run.clock.timesteps = 4
    run.algorithm.schedule.updates_due = lambda stored: 1
    next(iter(run.algorithm.batches(StubStorage())))
    assert torch.allclose(run.algorithm.target.flat, before + 7.0)  # by 4, and by a quarter of 12


def test_a_second_training_copies_the_target_network_as_the_first_did(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, target_network_update_freq=25, **SOON)
    agent.learn(100)
    assert target_moves(agent, 60) == [25, 50]


def test_many_short_trainings_copy_the_target_network_as_a_long_one_does(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, target_network_update_freq=25, **SOON)
    copies = [len(target_moves(agent, 10)) for _ in range(10)]
    assert copies == [0, 0, 1, 0, 1, 0, 0, 1, 0, 1]


# ---- what it learns ------------------------------------------------------------------------------


def batch_for(agent, reward=1.0, discount=0.5):
    rows = 4
    generator = torch.Generator().manual_seed(0)
    observation = torch.randn(rows, 3, generator=generator)
    return Batch(
        observation=observation,
        action=torch.tensor([0, 1, 2, 0]),
        reward=torch.full((rows,), reward),
        next_observation=observation.flip(0),
        discount=torch.full((rows,), discount),
        weight=torch.ones(rows),
        index=np.arange(rows),
    )


@pytest.mark.parametrize("double_q", [True, False])
def test_its_target_is_the_formula_on_its_two_networks(rlk_make, double_q):
    agent = rlk_make("dqn", env=MATCH, seed=0, double_q=double_q)
    algorithm, batch = agent.run.algorithm, batch_for(agent)
    with torch.no_grad():
        agent.run.parameters.flat.mul_(-1.3)  # apart from the target network
        (online,) = agent.run.policy(batch.next_observation, "qf")
        (target,) = algorithm.target.module(batch.next_observation, "qf")
    assert not algorithm.q_target(batch).requires_grad
    for row, found in enumerate(algorithm.q_target(batch).tolist()):
        best = int((online if double_q else target)[row].argmax())
        assert found == pytest.approx(1.0 + 0.5 * float(target[row, best]), abs=1e-5)


def test_its_td_error_is_the_difference_between_q_and_target(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0)
    algorithm, batch = agent.run.algorithm, batch_for(agent)
    target = algorithm.q_target(batch)
    q = agent.run.policy(batch.observation, "qf")[0].detach()
    expected = [float(q[row, int(a)] - target[row]) for row, a in enumerate(batch.action)]
    update = algorithm.update(batch, agent.run.optimise)
    assert update.td_error.tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch_size", [4, 32])
def test_its_loss_is_the_mean_over_the_batch_that_it_is_given(rlk_make, batch_size):
    """Whatever its length, such as that of a sample to which a storage adds demonstrations."""
    agent = rlk_make("dqn", env=MATCH, seed=0, batch_size=batch_size, learning_starts=32)
    algorithm, batch = agent.run.algorithm, batch_for(agent)
    target = algorithm.q_target(batch)
    (q,) = agent.run.policy(batch.observation, "qf")
    expected = functional.huber_loss(q[torch.arange(4), batch.action], target)
    assert algorithm.loss(batch, target).value.item() == pytest.approx(expected.item())


def test_observations_of_whole_numbers_are_computed_in_float32(rlk_make):
    class Counter(gym.Env):
        observation_space = gym.spaces.Box(0, 100, (2,), np.int64)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.int64), {}

        def step(self, action):
            return np.ones(2, np.int64), 1.0, False, False, {}

    agent = rlk_make("dqn", env=Counter, seed=0, learning_starts=10)
    agent.learn(40)
    batch = agent.run.storage.sample(4)
    assert agent.run.algorithm.q_target(batch).dtype == torch.float32


@pytest.mark.parametrize(("ends", "low", "high"), [(False, 1.9, 2.1), (True, 1.2, 1.8)])
def test_the_value_of_an_episode_that_is_cut_off_counts_what_would_have_come(
    rlk_make, ends, low, high
):
    """Reward 1 and gamma 0.5 for ever are worth 2; two steps alone 1 or 1.5, which look alike."""
    env = {"id": FOREVER, "length": 2, "ends": ends}
    agent = rlk_make("dqn", env=env, seed=0, gamma=0.5, **QUICK)
    agent.learn(400)
    (q,) = agent.run.policy(torch.ones(1, 1), "qf")
    assert low < float(q.detach().max()) < high


def test_it_learns_what_the_observation_shows(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, gamma=0.0, exploration_fraction=0.5, **QUICK)
    agent.learn(500)
    assert mean_return(agent, MATCH) == 8.0


@pytest.mark.parametrize(("dueling", "double_q"), [(False, False), (True, True)])
def test_it_learns_with_and_without_its_extensions(rlk_make, dueling, double_q):
    settings = {"dueling": dueling, "double_q": double_q, "gamma": 0.5, "n_envs": 2}
    agent = rlk_make("dqn", env=MATCH, seed=0, exploration_fraction=0.5, **settings, **QUICK)
    agent.learn(600)
    assert mean_return(agent, MATCH) >= 7.5


def test_actions_that_do_not_begin_at_zero_are_stored_from_zero_on(rlk_make):
    agent = rlk_make("dqn", env=MATCH, seed=0, exploration_final_eps=1.0)
    agent.learn(60)
    assert set(agent.run.storage.sample(200).action.tolist()) == {0, 1, 2}


def test_it_learns_from_images(rlk_make):
    env = {"id": "rlk_testing.environments:Walk", "observation": "image"}
    agent = rlk_make("dqn", env=env, seed=0, learning_starts=20)
    before = agent.run.parameters.flat.clone()
    agent.learn(60)
    assert not before.equal(agent.run.parameters.flat)
    assert agent.run.storage.sample(2).observation.dtype == torch.uint8
