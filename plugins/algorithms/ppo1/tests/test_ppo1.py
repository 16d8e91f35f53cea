from __future__ import annotations

from dataclasses import replace

import attrs
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk_on_policy.minibatches import Minibatch
from rlk_ppo1 import PPO1Config
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL = {"layers": [32]}


class TestPPO1(AlgorithmContract):
    component = "ppo1"
    settings = {"schedule": "constant"}


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(PPO1Config()) == {
        "gamma": 0.99,
        "timesteps_per_actorbatch": 256,
        "clip_param": 0.2,
        "entcoeff": 0.01,
        "optim_epochs": 4,
        "optim_stepsize": 1e-3,
        "optim_batchsize": 64,
        "lam": 0.95,
        "adam_epsilon": 1e-5,
        "schedule": "linear",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": -0.1},
        {"timesteps_per_actorbatch": 0},
        {"clip_param": 0.0},
        {"entcoeff": -0.1},
        {"optim_epochs": 0},
        {"optim_stepsize": "lin_x"},
        {"optim_batchsize": 0},
        {"lam": 1.1},
        {"adam_epsilon": 0.0},
        {"schedule": "sudden"},
        {"schedule": "linear", "optim_stepsize": "lin_0.001"},
        {"schedule": "linear", "clip_param": "lin_0.2"},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PPO1Config(**wrong)


def test_a_minibatch_that_a_collection_cannot_give_is_refused(rlk_make):
    small = {"env": MATCH, "timesteps_per_actorbatch": 3, "n_envs": 2}
    told = r"optim_batchsize=6 or less, or --set timesteps_per_actorbatch=4 or more"
    with pytest.raises(PlanError, match=told):
        rlk_make("ppo1", optim_batchsize=7, **small)
    rlk_make("ppo1", optim_batchsize=6, **small).learn(6)
    rlk_make("ppo1", optim_batchsize=7, **{**small, "timesteps_per_actorbatch": 4}).learn(8)


def test_a_collection_of_one_transition_is_refused(rlk_make):
    one = {"env": MATCH, "timesteps_per_actorbatch": 1, "optim_batchsize": 1}
    with pytest.raises(PlanError, match=r"a single transition.*timesteps_per_actorbatch=2 or more"):
        rlk_make("ppo1", **one)
    rlk_make("ppo1", n_envs=2, **one).learn(2)


@pytest.mark.parametrize(
    ("batch_size", "sizes"), [(12, [12]), (6, [6, 6]), (5, [4, 4, 4]), (8, [6, 6]), (11, [6, 6])]
)
def test_an_epoch_has_every_transition_of_every_actor_once(rlk_make, batch_size, sizes):
    settings = {"timesteps_per_actorbatch": 6, "n_envs": 2, "optim_batchsize": batch_size}
    agent = rlk_make("ppo1", env=MATCH, seed=0, optim_epochs=2, **settings)
    agent.run.collect()
    batches = list(agent.run.algorithm.batches(agent.run.storage))
    assert [len(batch.action) for batch in batches] == 2 * sizes
    whole = agent.run.storage.latest().extras["value"].ravel().tolist()
    for epoch in (batches[: len(sizes)], batches[len(sizes) :]):
        assert sorted(torch.cat([batch.value for batch in epoch]).tolist()) == sorted(whole)


def test_advantages_are_normalised_over_the_collection_and_not_in_each_minibatch(rlk_make):
    settings = {"timesteps_per_actorbatch": 32, "optim_batchsize": 8, "optim_epochs": 1}
    agent = rlk_make("ppo1", env=MATCH, seed=0, **settings)
    agent.run.collect()
    batches = list(agent.run.algorithm.batches(agent.run.storage))
    advantage = torch.cat([batch.advantage for batch in batches])
    assert advantage.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert advantage.std(correction=0).item() == pytest.approx(1.0, abs=1e-5)
    assert all(abs(batch.advantage.mean().item()) > 1e-3 for batch in batches)
    # What values are fitted to is not normalised.
    rewards = agent.run.storage.latest().reward
    assert torch.cat([batch.return_ for batch in batches]).max().item() > rewards.max()


def test_advantages_are_normalised_over_the_collections_of_all_ranks(rlk_make):
    settings = {"timesteps_per_actorbatch": 8, "optim_batchsize": 8, "optim_epochs": 1}
    agent = rlk_make("ppo1", env=MATCH, seed=0, **settings)
    agent.run.collect()
    agent.run.communicator = OtherRankHasZeros()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    own = batch.return_ - batch.value
    centred = own - own.mean() / 2
    expected = centred / (centred.square().mean() / 2).sqrt()
    assert torch.allclose(batch.advantage, expected, atol=1e-5)


def test_the_step_size_and_the_clip_range_follow_the_same_curve(rlk_make):
    settings = {"timesteps_per_actorbatch": 8, "optim_batchsize": 8, "optim_stepsize": 0.1}
    agent = rlk_make("ppo1", env=MATCH, seed=0, clip_param=0.4, **settings)
    seen, refresh = [], agent.run.refresh_schedules

    def watched():
        refresh()
        rate = agent.run.optimise.groups["policy"].learning_rate
        seen.append((rate.item(), agent.run.algorithm.clip_range.item()))

    agent.run.refresh_schedules = watched
    agent.learn(32)
    assert [pair[0] for pair in seen] == pytest.approx([0.1, 0.075, 0.05, 0.025])
    assert [pair[1] for pair in seen] == pytest.approx([0.4, 0.3, 0.2, 0.1])


TINY = {"timesteps_per_actorbatch": 8, "optim_batchsize": 4, "seed": 0}


@pytest.mark.parametrize(
    "other",
    [
        {"gamma": 0.5},
        {"timesteps_per_actorbatch": 16},
        {"clip_param": 1e-3},
        {"entcoeff": 0.5},
        {"optim_epochs": 5},
        {"optim_stepsize": 1e-2},
        {"optim_batchsize": 8},
        {"lam": 0.1},
        {"adam_epsilon": 1.0},
        {"schedule": "constant"},
    ],
    ids=str,
)
def test_every_hyperparameter_changes_what_is_learnt(rlk_make, other):
    settings = {**TINY, "optim_stepsize": 5e-3}
    one, another = (rlk_make("ppo1", env=MATCH, **{**settings, **more}) for more in ({}, other))
    for agent in (one, another):
        agent.learn(32)
    assert not one.run.parameters.flat.equal(another.run.parameters.flat)


# ---- one update ----------------------------------------------------------------------------------


def agent_and_batch(rlk_make, rows=12, **settings):
    """An agent and a batch of its own actions, at the parameters it acted with."""
    agent = rlk_make("ppo1", env=MATCH, seed=0, **settings)
    generator = torch.Generator().manual_seed(0)
    observation = torch.randn(rows, 3, generator=generator)
    action = torch.arange(rows) % 3
    with torch.no_grad():
        parameters, value = agent.run.policy(observation, "pi", "vf")
        log_prob = torch.log_softmax(parameters, 1)[torch.arange(rows), action]
    advantage = torch.randn(rows, generator=generator)
    return agent, Minibatch(
        observation, action, advantage, advantage + value[:, 0], value[:, 0].clone(), log_prob
    )


def reference_loss(agent, batch):
    """The loss of OpenAI's code, written out once more."""
    logits, value = agent.run.policy(batch.observation, "pi", "vf")
    chances = torch.distributions.Categorical(logits=logits)
    ratio = (chances.log_prob(batch.action) - batch.log_prob).exp()
    clipped = ratio.clamp(0.8, 1.2)
    policy = -torch.min(ratio * batch.advantage, clipped * batch.advantage).mean()
    error = torch.nn.functional.mse_loss(value[:, 0], batch.return_)
    return policy + error - 0.01 * chances.entropy().mean()


def test_three_updates_equal_those_of_torch_on_the_loss_written_out(rlk_make):
    settings = {"optim_stepsize": 0.01, "adam_epsilon": 1e-3}
    agent, batch = agent_and_batch(rlk_make, **settings)
    other, same = agent_and_batch(rlk_make, **settings)
    assert other.run.parameters.flat.equal(agent.run.parameters.flat)
    parameters = list(other.run.policy.parameters())
    means, squares = ([torch.zeros_like(x) for x in parameters] for _ in range(2))
    for t in (1, 2, 3):
        agent.run.algorithm.update(batch, agent.run.optimise)
        other.run.policy.zero_grad()
        reference_loss(other, same).backward()
        with torch.no_grad():
            for x, mean, square in zip(parameters, means, squares, strict=True):
                mean.copy_(0.9 * mean + 0.1 * x.grad)
                square.copy_(0.999 * square + 0.001 * x.grad**2)
                root = (square / (1 - 0.999**t)).sqrt() + 1e-3
                x -= 0.01 * mean / (1 - 0.9**t) / root
    assert torch.allclose(agent.run.parameters.flat, other.run.parameters.flat, atol=2e-5)


@pytest.mark.parametrize(("ratio", "fraction"), [(1.15, 0.0), (1.3, 1.0)])
def test_a_ratio_is_clipped_outside_of_the_range_that_is_set(rlk_make, ratio, fraction):
    agent, batch = agent_and_batch(rlk_make, clip_param=0.2)
    other = replace(batch, stored_log_prob=batch.log_prob - np.log(ratio))
    found = agent.run.algorithm.loss(other).metrics["clip_fraction"]
    assert found.item() == fraction


def test_metrics_are_the_parts_of_the_loss(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    expected = reference_loss(agent, batch).item()
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert metrics["loss"].item() == pytest.approx(expected)
    parts = metrics["policy_gradient_loss"] + metrics["value_loss"]
    assert metrics["loss"].item() == pytest.approx((parts + 0.01 * metrics["entropy_loss"]).item())
    assert metrics["approx_kl"].item() == pytest.approx(0.0, abs=1e-6)
    assert metrics["clip_fraction"].item() == 0.0


# ---- what it learns ------------------------------------------------------------------------------


QUICK = {
    "timesteps_per_actorbatch": 32,
    "n_envs": 4,
    "optim_stepsize": 0.01,
    "optim_batchsize": 32,
    "gamma": 0.0,
    "policy": SMALL,
    "seed": 0,
}


@pytest.mark.parametrize("space", ["Discrete", "MultiDiscrete", "MultiBinary"])
def test_it_learns_what_the_observation_shows(rlk_make, space):
    env = f"rlk_testing.environments:{space}Match"
    agent = rlk_make("ppo1", env=env, **QUICK)
    agent.learn(1024)
    assert mean_return(agent, env) > 7.5  # 8 at best; actions at random have 2.7 of Discrete


def test_it_learns_continuous_actions(rlk_make):
    agent = rlk_make("ppo1", env=BOX, entcoeff=0.0, **QUICK)
    agent.learn(1536)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2
