from __future__ import annotations

from dataclasses import replace

import attrs
import numpy as np
import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.records import Loss
from rlk_on_policy.minibatches import Minibatch
from rlk_ppo2 import PPO2Config
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL = {"layers": [32]}


class TestPPO2(AlgorithmContract):
    component = "ppo2"


class TestPPO2WithoutClippedValues(AlgorithmContract):
    component = "ppo2"
    variant = True
    settings = {"cliprange_vf": -1.0, "max_grad_norm": None, "learning_rate": "lin_0.001"}


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(PPO2Config()) == {
        "gamma": 0.99,
        "n_steps": 128,
        "ent_coef": 0.01,
        "learning_rate": 2.5e-4,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
        "lam": 0.95,
        "nminibatches": 4,
        "noptepochs": 4,
        "cliprange": 0.2,
        "cliprange_vf": None,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": -0.1},
        {"lam": 1.1},
        {"n_steps": 0},
        {"nminibatches": 0},
        {"noptepochs": 0},
        {"cliprange": "lin_x"},
        {"cliprange": 0.0},
        {"cliprange_vf": "much"},
        {"cliprange_vf": 0},
        {"max_grad_norm": -1.0},
        {"ent_coef": -0.1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PPO2Config(**wrong)


def test_an_update_is_made_for_every_minibatch_of_every_epoch(rlk_make):
    settings = {"n_steps": 8, "n_envs": 2, "noptepochs": 3, "nminibatches": 5}
    agent = rlk_make("ppo2", env=MATCH, seed=0, **settings)
    agent.learn(32)
    assert agent.run.clock.iterations == 2
    assert agent.run.clock.updates == 2 * 3 * 5


@pytest.mark.parametrize("nminibatches", [4, 6, 7])
def test_minibatches_of_fewer_than_two_transitions_are_refused(rlk_make, nminibatches):
    """A single advantage normalised is 0: the policy would never move."""
    enough = rf"--set n_steps={nminibatches} or more"
    with pytest.raises(PlanError, match=rf"'ppo2'.* 6 transitions.*{enough}"):
        rlk_make("ppo2", env=MATCH, n_steps=3, n_envs=2, nminibatches=nminibatches)


def test_minibatches_of_two_transitions_train_the_policy(rlk_make):
    agent = rlk_make("ppo2", env=MATCH, n_steps=3, n_envs=2, nminibatches=3, ent_coef=0.0, seed=0)
    before = agent.run.policy.pi.out.weight.detach().clone()
    agent.learn(6)
    assert not agent.run.policy.pi.out.weight.equal(before)


# ---- one update ----------------------------------------------------------------------------------


def agent_and_batch(rlk_make, rows=12, **settings):
    """An agent and a batch of its own actions, at the parameters it acted with."""
    agent = rlk_make("ppo2", env=MATCH, seed=0, **settings)
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


def reference_loss(agent, batch, advantage, cliprange=0.2, vf_coef=0.5, ent_coef=0.01):
    """The loss of the paper and of OpenAI's code, written out once more."""
    logits, value = agent.run.policy(batch.observation, "pi", "vf")
    chances = torch.distributions.Categorical(logits=logits)
    ratio = (chances.log_prob(batch.action) - batch.log_prob).exp()
    clipped = ratio.clamp(1 - cliprange, 1 + cliprange)
    policy = -torch.min(ratio * advantage, clipped * advantage).mean()
    near = batch.value + (value[:, 0] - batch.value).clamp(-cliprange, cliprange)
    errors = torch.max((value[:, 0] - batch.return_) ** 2, (near - batch.return_) ** 2)
    return policy + vf_coef * 0.5 * errors.mean() - ent_coef * chances.entropy().mean()


def test_three_updates_equal_those_of_torch_on_the_loss_written_out(rlk_make):
    agent, batch = agent_and_batch(rlk_make, learning_rate=0.01)
    other, same = agent_and_batch(rlk_make, learning_rate=0.01)
    assert other.run.parameters.flat.equal(agent.run.parameters.flat)
    parameters = list(other.run.policy.parameters())
    reference = torch.optim.Adam(parameters, lr=0.01, eps=1e-5)
    advantage = (same.advantage - same.advantage.mean()) / (same.advantage.std(correction=0) + 1e-8)
    for _ in range(3):
        agent.run.algorithm.update(batch, agent.run.optimise)
        reference.zero_grad()
        reference_loss(other, same, advantage).backward()
        clip_grad_norm_(parameters, 0.5)
        reference.step()
    assert torch.allclose(agent.run.parameters.flat, other.run.parameters.flat, atol=2e-5)


def test_advantages_are_normalised_over_the_minibatches_of_all_ranks(rlk_make):
    agent, batch = agent_and_batch(rlk_make, rows=2)
    agent.run.communicator, given = OtherRankHasZeros(), []

    def optimise(group, loss, minibatch, advantage):
        given.append(advantage)
        return Loss(advantage.mean())

    agent.run.algorithm.update(replace(batch, advantage=torch.tensor([2.0, 2.0])), optimise)
    # The mean over both ranks is 1; centred here 1, 1; the mean square over both (1 + 0) / 2.
    assert given[0].tolist() == pytest.approx([2**0.5, 2**0.5])


@pytest.mark.parametrize(("ratio", "fraction"), [(1.15, 0.0), (1.3, 1.0)])
def test_a_ratio_is_clipped_outside_of_the_range_that_is_set(rlk_make, ratio, fraction):
    agent, batch = agent_and_batch(rlk_make, cliprange=0.2)
    other = replace(batch, stored_log_prob=batch.log_prob - np.log(ratio))
    found = agent.run.algorithm.loss(other, other.advantage).metrics["clip_fraction"]
    assert found.item() == fraction


def test_metrics_are_those_of_the_first_update_of_a_batch(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert metrics["approx_kl"].item() == pytest.approx(0.0, abs=1e-10)
    assert metrics["clip_fraction"].item() == 0.0
    assert metrics["policy_gradient_loss"].item() == pytest.approx(0.0, abs=1e-6)
    assert metrics["value_loss"].item() == pytest.approx(
        0.5 * float(batch.advantage.square().mean())
    )
    assert metrics["entropy_loss"].item() == pytest.approx(-np.log(3), abs=0.01)  # near to uniform


@pytest.mark.parametrize(
    ("cliprange_vf", "used"),
    [(None, 0.3), (0.7, 0.7), (-1, None), (-0.5, None), ("constant_-1", None), ("lin_0.6", 0.6)],
)
def test_values_are_clipped_as_ratios_are_unless_told_otherwise(rlk_make, cliprange_vf, used):
    agent = rlk_make("ppo2", env=MATCH, seed=0, cliprange=0.3, cliprange_vf=cliprange_vf)
    found = agent.run.algorithm.cliprange_vf
    assert (found is None) if used is None else found.item() == pytest.approx(used)


def test_scheduled_numbers_follow_what_remains_of_the_run(rlk_make):
    settings = {
        "n_steps": 8,
        "learning_rate": lambda remaining: 0.1 * remaining,
        "cliprange": "lin_0.4",
    }
    agent = rlk_make("ppo2", env=MATCH, seed=0, **settings)
    seen = []
    refresh = agent.run.refresh_schedules

    def watched():
        refresh()
        rate = agent.run.optimise.groups["policy"].learning_rate
        seen.append((rate.item(), agent.run.algorithm.cliprange.item()))

    agent.run.refresh_schedules = watched
    agent.learn(32)
    assert [pair[0] for pair in seen] == pytest.approx([0.1, 0.075, 0.05, 0.025])
    assert [pair[1] for pair in seen] == pytest.approx([0.4, 0.3, 0.2, 0.1])


# ---- what it learns ------------------------------------------------------------------------------


#: Eight of eight seeds have learnt a Match within 512 timesteps. Large steps of a wide network
#: would leave some ratios clipped for ever.
QUICK = {"n_steps": 32, "n_envs": 4, "learning_rate": 0.01, "gamma": 0.0, "policy": SMALL}


def test_it_learns_what_the_observation_shows(rlk_make):
    agent = rlk_make("ppo2", env=MATCH, seed=0, **QUICK)
    agent.learn(1024)
    assert mean_return(agent, MATCH) == 8.0  # actions at random have 2.7


def test_it_learns_continuous_actions_between_bounds_that_are_not_symmetric(rlk_make):
    agent = rlk_make("ppo2", env=BOX, seed=0, ent_coef=0.0, **QUICK)
    agent.learn(1536)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2


@pytest.mark.parametrize("space", ["MultiDiscrete", "MultiBinary"])
def test_it_learns_actions_of_several_parts(rlk_make, space):
    env = f"rlk_testing.environments:{space}Match"
    agent = rlk_make("ppo2", env=env, seed=0, **QUICK)
    agent.learn(1024)
    assert mean_return(agent, env) > 7.5


def test_it_learns_without_clipping_values_and_with_shared_layers(rlk_make):
    settings = {"cliprange_vf": -1, "policy": {"net_arch": [32, {"pi": [16], "vf": [16]}]}}
    agent = rlk_make("ppo2", env=MATCH, seed=0, **{**QUICK, **settings})
    agent.learn(1024)
    assert mean_return(agent, MATCH) == 8.0


def test_its_rows_have_the_explained_variance_of_its_values(rlk_make):
    rows = []

    class Listens:
        @hookimpl
        def rlk_log(self, run, row):
            rows.append(dict(row))

    agent = rlk_make("ppo2", env=MATCH, seed=0, n_steps=16, plugins=[Listens()])
    agent.learn(16)
    (row,) = rows
    assert "train/explained_variance" in row
