from __future__ import annotations

from dataclasses import replace

import attrs
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk_acer import ACERConfig
from rlk_categorical.distribution import Categorical
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:DiscreteMatch"
FOREVER = "rlk_testing.environments:Forever"
SMALL = {"layers": [32]}
#: A replay that begins with the first collection.
SOON = {
    "n_steps": 8,
    "buffer_size": 64,
    "replay_start": 0,
    "replay_ratio": 2.0,
    "lr_schedule": "constant",
}


class TestACER(AlgorithmContract):
    component = "acer"
    settings = {"n_steps": 8, "replay_ratio": 2.0, "lr_schedule": "constant"}
    n_steps_trained = 128  # how often it replays is drawn: of fewer, the mean says too little


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(ACERConfig()) == {
        "gamma": 0.99,
        "n_steps": 20,
        "q_coef": 0.5,
        "ent_coef": 0.01,
        "max_grad_norm": 10.0,
        "learning_rate": 0.0007,
        "lr_schedule": "linear",
        "rprop_alpha": 0.99,
        "rprop_epsilon": 1e-05,
        "buffer_size": 5000,
        "replay_ratio": 4.0,
        "replay_start": 1000,
        "correction_term": 10.0,
        "trust_region": True,
        "alpha": 0.99,
        "delta": 1.0,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": -0.1},
        {"n_steps": 0},
        {"q_coef": -1.0},
        {"ent_coef": -0.1},
        {"max_grad_norm": -1.0},
        {"learning_rate": "lin_x"},
        {"lr_schedule": "quadratic"},
        {"rprop_alpha": 1.1},
        {"rprop_epsilon": -1.0},
        {"buffer_size": 0},
        {"replay_ratio": -1.0},
        {"replay_ratio": 1e19},
        {"replay_ratio": float("nan")},
        {"replay_start": -1},
        {"correction_term": 0.0},
        {"rprop_epsilon": 0.0},
        {"alpha": 1.1},
        {"delta": -1.0},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ACERConfig(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"buffer_size": 19}, "buffer_size=19 holds no .*at least 20, or replay_ratio=0"),
        ({"buffer_size": 50, "replay_start": 41}, "replay_start=41 .*holds 40 .*at most 40, or"),
    ],
)
def test_a_replay_that_cannot_be_is_refused(rlk_make, wrong, message):
    with pytest.raises(PlanError, match=message):
        rlk_make("acer", env=MATCH, **wrong)
    ACERConfig(buffer_size=50, replay_start=40)
    ACERConfig(**wrong, replay_ratio=0.0)


@pytest.mark.parametrize("unused", [{"alpha": 0.5}, {"delta": 2.0}])
def test_what_belongs_to_the_trust_region_is_refused_without_one(rlk_make, unused):
    with pytest.raises(PlanError, match=r"has no effect without trust_region. Use --set trust_reg"):
        rlk_make("acer", env=MATCH, trust_region=False, **unused)
    rlk_make("acer", env=MATCH, **unused)
    rlk_make("acer", env=MATCH, trust_region=False, alpha=0.99, delta=1.0)


@pytest.mark.parametrize("storage", ["rollout", "replay"])
def test_storages_that_keep_no_sequences_are_refused(rlk_make, storage):
    with pytest.raises(PlanError, match=r"(?s)is for o\w+-policy.*'acer'.*is on- and off-policy"):
        rlk_make("acer", env=MATCH, storage=storage)
    with pytest.raises(PlanError, match=r"(?s)trajectory-replay.*on- and off-policy.*'ppo2'"):
        rlk_make("ppo2", env=MATCH, storage="trajectory-replay")


def test_its_settings_are_those_of_its_storage_and_of_its_optimiser(rlk_make):
    settings = {"rprop_alpha": 0.5, "rprop_epsilon": 0.25, "max_grad_norm": None}
    agent = rlk_make("acer", env=MATCH, buffer_size=2000, **settings)
    assert agent.run.storage.capacity == 100
    step, group = agent.run.optimise.steps["policy"], agent.run.optimise.groups["policy"]
    assert (step.alpha, step.eps, group.max_grad_norm) == (0.5, 0.25, None)


def test_the_decay_of_rmsprop_is_refused_where_another_optimiser_would_ignore_it(rlk_make):
    with pytest.raises(PlanError, match=r"rprop_alpha=0.5 is for 'rmsprop'.* no effect"):
        rlk_make("acer", env=MATCH, optimiser="adam", rprop_alpha=0.5)


def test_an_optimiser_that_compares_losses_along_a_line_is_refused(rlk_make):
    with pytest.raises(PlanError, match=r"'acer'.*'natural-gradient'.*--optimiser adam"):
        rlk_make("acer", env=MATCH, optimiser="natural-gradient")


class WithoutEntropy(Categorical):
    def entropy(self, parameters):
        raise NotImplementedError


def test_it_needs_no_formula_of_the_entropy_from_the_distribution(rlk_make, rlk_kernel):
    rlk_kernel.registries.distributions.register("mine", WithoutEntropy)
    agents = [
        rlk_make("acer", env=MATCH, kernel=rlk_kernel, distribution=name, n_steps=8, seed=0)
        for name in ("categorical", "mine")
    ]
    for agent in agents:
        agent.learn(8)
    assert agents[0].run.parameters.flat.equal(agents[1].run.parameters.flat)


def test_the_layers_of_q_are_those_that_settings_give_the_value(rlk_make):
    agent = rlk_make("acer", env=MATCH, policy={"net_arch": [{"vf": [5], "pi": [7]}]})
    assert agent.run.policy.qf.out.weight.shape == (5, 3)
    assert agent.run.policy.pi.out.weight.shape == (7, 3)


# ---- when it replays -----------------------------------------------------------------------------


def updates(rlk_make, timesteps, **settings):
    agent = rlk_make("acer", env=MATCH, seed=3, n_steps=8, **settings)
    agent.learn(timesteps)
    return agent.run.clock.updates


def test_without_replay_each_collection_is_learnt_from_once(rlk_make):
    assert updates(rlk_make, 80, replay_ratio=0.0) == 10


def test_replays_begin_when_enough_steps_of_each_environment_are_kept(rlk_make):
    settings = {"replay_ratio": 50.0, "replay_start": 16, "n_envs": 2}
    assert updates(rlk_make, 16, **settings) == 1
    assert updates(rlk_make, 32, **settings) > 30


def test_replays_are_as_many_as_a_poisson_variable(rlk_make):
    agent = rlk_make("acer", env=MATCH, seed=0, replay_ratio=3.0, replay_start=0)
    counts = np.array([agent.run.algorithm.replays_due(0) for _ in range(2000)])
    # Mean 3 and variance 3: five standard deviations of either are 0.2 and 0.5.
    assert abs(counts.mean() - 3.0) < 0.2 and abs(counts.var() - 3.0) < 0.5


def test_ranks_replay_as_often_as_rank_0_says(rlk_make):
    agent = rlk_make("acer", env=MATCH, seed=0)

    class OtherRank:
        size, rank = 2, 1

        def agree(self, value):
            return 7

    agent.run.communicator = OtherRank()
    assert agent.run.algorithm.replays_due(0) == 7


# ---- one update ----------------------------------------------------------------------------------


def test_of_a_recurrent_policy_it_stores_the_state_before_a_sequence_alone(rlk_make):
    agent = rlk_make("acer", policy="lstm", **{"lstm.n_lstm": 4})
    assert agent.run.algorithm.extras()["state"].first_only


def agent_and_batch(rlk_make, **settings):
    """An agent after one collection, and the batch of it."""
    given = {"n_envs": 2, "n_steps": 8, "policy": SMALL, **settings}
    agent = rlk_make("acer", env=MATCH, seed=0, **given)
    agent.run.collect()
    return agent, next(iter(agent.run.algorithm.batches(agent.run.storage)))


def gradient(agent, batch):
    """The gradient of the loss by all parameters, as the optimiser is given it."""
    algorithm, policy = agent.run.algorithm, agent.run.policy
    loss = algorithm.loss(batch, algorithm.average_parameters(batch))
    found = torch.autograd.grad(loss.value, list(policy.parameters()))
    return torch.cat([each.flatten() for each in found])


def test_on_its_own_actions_it_is_the_gradient_of_an_actor_critic(rlk_make):
    """Ratios are 1: no truncation, no correction, and traces are returns as far as they go."""
    settings = {"trust_region": False, "ent_coef": 0.3, "q_coef": 0.7, "gamma": 0.9}
    agent, batch = agent_and_batch(rlk_make, **settings)
    logits, q_all = agent.run.policy(batch.observation, "pi", "qf")
    chances = torch.distributions.Categorical(logits=logits[batch.row])
    q = q_all[batch.row].gather(1, batch.action[:, None])[:, 0]
    value = (logits.softmax(1) * q_all).sum(1).detach()
    target = torch.zeros(8, 2)
    following = value[batch.row + 2].view(8, 2)
    for env in range(2):
        for t in reversed(range(8)):
            target[t, env] = batch.reward[t, env] + batch.discount[t, env] * following[t, env]
            if t < 7 and not batch.ended[t, env]:
                row = 2 * (t + 1) + env
                target[t, env] += 0.9 * (target[t + 1, env] - q[row].detach())
    target = target.view(-1)
    policy_loss = -(chances.log_prob(batch.action) * (target - value[batch.row])).mean()
    q_loss = 0.5 * (q - target).square().mean()
    entropy = chances.entropy().mean()
    loss = policy_loss - 0.3 * entropy + 0.7 * q_loss
    expected = torch.autograd.grad(loss, list(agent.run.policy.parameters()))
    found = gradient(agent, batch)
    assert torch.allclose(found, torch.cat([each.flatten() for each in expected]), atol=1e-5)
    metrics = agent.run.algorithm.loss(batch, None).metrics
    assert metrics["policy_gradient_loss"].item() == pytest.approx(policy_loss.item(), abs=1e-5)
    assert metrics["q_loss"].item() == pytest.approx(q_loss.item(), abs=1e-5)
    assert metrics["entropy_loss"].item() == pytest.approx(-entropy.item(), abs=1e-5)
    assert metrics["loss"].item() == pytest.approx(loss.item(), abs=1e-5)


def test_the_average_policy_is_asked_about_the_row_of_each_step(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    found = agent.run.algorithm.average_parameters(batch)
    turned = replace(batch, row=batch.row.flip(0))
    assert agent.run.algorithm.average_parameters(turned).equal(found.flip(0))
    assert not found.equal(found.flip(0))


def test_in_the_first_update_the_average_is_the_policy_and_nothing_is_projected(rlk_make):
    agent, batch = agent_and_batch(rlk_make, delta=0.0)
    other, same = agent_and_batch(rlk_make, trust_region=False)
    assert torch.allclose(gradient(agent, batch), gradient(other, same), atol=1e-5)


@pytest.mark.parametrize(("delta", "projected"), [(0.0, True), (1e6, False)])
def test_away_from_the_average_the_region_bounds_what_leads_further_away(
    rlk_make, delta, projected
):
    agent, batch = agent_and_batch(rlk_make, delta=delta)
    free = gradient(agent, batch)
    agent.run.algorithm.average.flat.mul_(-2.0)
    assert gradient(agent, batch).equal(free) is not projected


def test_the_region_is_around_the_average_and_not_around_the_policy(rlk_make):
    """By autograd: the gradient of KL(average || pi) by the logits, and equation 12, row by row."""
    agent, batch = agent_and_batch(rlk_make, delta=0.01)
    other, same = agent_and_batch(rlk_make, trust_region=False)
    average = batch.parameters + torch.randn(16, 3, generator=torch.Generator().manual_seed(0))

    def by_logits(one, its_batch, average):
        (every,) = its_batch.outputs(one.run.policy, "pi")
        saved = []
        one.run.policy.pi.register_forward_hook(lambda _, __, out: saved.append(out))
        loss = one.run.algorithm.loss(its_batch, average).value
        (found,) = torch.autograd.grad(loss, saved[0])
        return -found.index_select(0, its_batch.row) * 16, every.detach()[its_batch.row]

    free, logits = by_logits(other, same, None)
    found, _ = by_logits(agent, batch, average)
    leaf, p = logits.clone().requires_grad_(), average.softmax(1)
    divergence = (p * (p.log() - leaf.log_softmax(1))).sum()
    (k,) = torch.autograd.grad(divergence, leaf)
    excess = ((k * free).sum(1) - 0.01).clamp(min=0.0) / k.square().sum(1)
    assert 0 < int((excess > 0).sum()) < 16
    assert torch.allclose(found, free - excess[:, None] * k, atol=1e-5)


def test_the_average_follows_the_policy_by_what_alpha_leaves(rlk_make):
    agent, batch = agent_and_batch(rlk_make, alpha=0.75)
    before = agent.run.parameters.flat.clone()
    agent.run.algorithm.update(batch, agent.run.optimise)
    after = agent.run.parameters.flat
    assert not after.equal(before)
    expected = 0.75 * before + 0.25 * after
    assert torch.allclose(agent.run.algorithm.average.flat, expected, atol=1e-7)


def test_what_the_policy_that_acted_did_more_often_counts_less(rlk_make):
    settings = {"trust_region": False, "ent_coef": 0.0, "gamma": 0.0}
    agent, batch = agent_and_batch(rlk_make, **settings)
    taken = batch.action[:, None]
    other = batch.parameters.scatter_add(1, taken, torch.full((16, 1), 3.0))
    log_pi, log_mu = batch.parameters.log_softmax(1), other.log_softmax(1)
    ratio = (log_pi - log_mu).gather(1, taken)[:, 0].exp()
    assert (ratio < 0.5).all()
    logits, q = agent.run.policy(batch.observation, "pi", "qf")
    value = (logits.softmax(1) * q).sum(1)[batch.row]
    advantage = batch.reward.view(-1) - value
    expected = -(ratio * advantage * log_pi.gather(1, taken)[:, 0]).mean()
    found = agent.run.algorithm.loss(replace(batch, parameters=other), None)
    assert found.metrics["policy_gradient_loss"].item() == pytest.approx(expected.item(), abs=1e-6)


# ---- what it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize(("ends", "low", "high"), [(False, 1.85, 2.15), (True, 1.1, 1.65)])
def test_the_value_of_an_episode_that_is_cut_off_counts_what_would_have_come(
    rlk_make, ends, low, high
):
    """Reward 1 and gamma 0.5 for ever are worth 2; two steps alone 1 or 1.5, which look alike."""
    env = {"id": FOREVER, "length": 2, "ends": ends}
    settings = {**SOON, "learning_rate": 0.01, "policy": SMALL}
    agent = rlk_make("acer", env=env, gamma=0.5, seed=0, **settings)
    agent.learn(800)
    logits, q = agent.run.policy(torch.ones(1, 1), "pi", "qf")
    assert low < (logits.softmax(1) * q).sum().item() < high


@pytest.mark.parametrize(
    "settings", [{}, {"trust_region": False}, {"replay_ratio": 0.0, "replay_start": 1000}]
)
def test_it_learns_what_the_observation_shows(rlk_make, settings):
    given = {**SOON, "n_envs": 4, "learning_rate": 0.01, "gamma": 0.0, "policy": SMALL}
    agent = rlk_make("acer", env=MATCH, seed=0, **{**given, **settings})
    agent.learn(2048)
    assert mean_return(agent, MATCH) == 8.0  # actions at random have 2.7
