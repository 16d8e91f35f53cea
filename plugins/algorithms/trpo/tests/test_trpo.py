from __future__ import annotations

from dataclasses import replace

import attrs
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError, RlkError
from rlk.hookspecs import hookimpl
from rlk_categorical.distribution import Categorical
from rlk_natural_gradient import NaturalGradientConfig
from rlk_on_policy.advantages import advantages
from rlk_on_policy.minibatches import Minibatch
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros
from rlk_testing.tools.watched_updates import WatchUpdates
from rlk_trpo import TRPOConfig

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"


class TestTRPO(AlgorithmContract):
    component = "trpo"


class TestTRPOWithEntropyAndASchedule(AlgorithmContract):
    component = "trpo"
    variant = True
    settings = {"entcoeff": 0.01, "vf_stepsize": "lin_0.001", "vf_iters": 1}


class TestTRPOWithSharedLayers(AlgorithmContract):
    component = "trpo"
    variant = True

    def run_settings(self):
        return {**super().run_settings(), "policy": {"net_arch": [8, {"pi": [8], "vf": [8]}]}}


# ---- hyperparameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max_kl", "cg_iters", "cg_damping"])
def test_a_setting_that_goes_to_the_optimiser_has_its_words_default_and_limits(name):
    own, of_optimiser = (
        getattr(attrs.fields(TRPOConfig), name),
        getattr(attrs.fields(NaturalGradientConfig), name),
    )
    assert own.metadata == of_optimiser.metadata and own.default == of_optimiser.default
    assert own.validator == of_optimiser.validator


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(TRPOConfig()) == {
        "gamma": 0.99,
        "timesteps_per_batch": 1024,
        "max_kl": 0.01,
        "cg_iters": 10,
        "lam": 0.98,
        "entcoeff": 0.0,
        "cg_damping": 0.01,
        "vf_stepsize": 0.0003,
        "vf_iters": 3,
        "vf_batch_size": 128,  # no parameter there
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.1},
        {"lam": -0.1},
        {"timesteps_per_batch": 0},
        {"max_kl": 0.0},
        {"cg_iters": 0},
        {"cg_damping": -1.0},
        {"entcoeff": -0.1},
        {"vf_stepsize": "lin_x"},
        {"vf_iters": -1},
        {"vf_batch_size": 0},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TRPOConfig(**wrong)


def test_a_batch_is_so_many_timesteps_over_all_environments_in_whole_vector_steps(rlk_make):
    agent = rlk_make("trpo", env=MATCH, seed=0, timesteps_per_batch=10, n_envs=4)
    agent.learn(24)
    assert agent.run.clock.iterations == 2 and agent.num_timesteps == 24


def test_the_parameters_of_the_trust_region_are_those_of_the_optimiser(rlk_make):
    keywords = {"max_kl": 0.02, "cg_iters": 7, "cg_damping": 0.3}
    for settings in (
        keywords,
        {f"natural-gradient.{key}": value for key, value in keywords.items()},
    ):
        step = rlk_make("trpo", env=MATCH, **settings).run.optimise.steps["pi"]
        assert (step.config.max_kl, step.config.cg_iters, step.config.cg_damping) == (0.02, 7, 0.3)
    with pytest.raises(PlanError, match=r"max_kl=0\.1.*one setting with two values"):
        rlk_make("trpo", env=MATCH, max_kl=0.1, **{"natural-gradient.max_kl": 0.2})


def test_each_group_has_an_optimiser_that_can_be_replaced(rlk_make):
    def chosen(**settings):
        steps = rlk_make("trpo", env=MATCH, **settings).run.optimise.steps
        return {group: type(step).__name__ for group, step in steps.items()}

    assert chosen() == {"pi": "NaturalGradient", "vf": "Adam"}
    assert chosen(vf_optimiser="rmsprop") == {"pi": "NaturalGradient", "vf": "RMSProp"}
    with pytest.raises(
        PlanError, match=r"no step size, which optimiser 'adam'.* vf_optimiser=adam"
    ):
        chosen(optimiser="adam")
    with pytest.raises(PlanError, match=r"needs the divergence.*'vf'"):
        chosen(vf_optimiser="natural-gradient")


def test_the_natural_gradient_is_refused_where_an_algorithm_gives_no_divergence(rlk_make):
    with pytest.raises(PlanError, match=r"'q'.*--optimiser adam, or an on-policy algorithm"):
        rlk_make("dqn", env=MATCH, optimiser="natural-gradient")


class WithoutDivergence(Categorical):
    def kl(self, parameters, other):
        raise NotImplementedError


def test_a_distribution_without_a_formula_of_its_divergence_is_named(rlk_make, rlk_kernel):
    rlk_kernel.registries.distributions.register("mine", WithoutDivergence)
    agent = rlk_make(
        "trpo", env=MATCH, kernel=rlk_kernel, distribution="mine", timesteps_per_batch=8
    )
    with pytest.raises(RlkError, match=r"'natural-gradient'.*'mine'.*no formula.*Use another"):
        agent.learn(8)


def test_a_collection_of_one_transition_is_refused(rlk_make):
    with pytest.raises(PlanError, match=r"a single transition.*timesteps_per_batch=2 or more"):
        rlk_make("trpo", env=MATCH, timesteps_per_batch=1)
    rlk_make("trpo", env=MATCH, timesteps_per_batch=1, n_envs=2).learn(2)


# ---- one iteration -------------------------------------------------------------------------------


def watched(rlk_make, timesteps=300, **settings):
    watch = WatchUpdates()
    agent = rlk_make("trpo", env=MATCH, seed=0, plugins=[watch], **settings)
    agent.learn(timesteps)
    return agent, watch.updates


def test_an_iteration_is_one_step_of_the_policy_and_then_the_epochs_of_the_value(rlk_make):
    agent, updates = watched(rlk_make, timesteps_per_batch=300, vf_iters=3)
    assert [batch.key for batch, _, _ in updates] == ["pi"] + ["vf"] * 3 * (300 // 128)
    assert len(updates[0][0].action) == 300
    assert {len(batch.action) for batch, _, _ in updates[1:]} == {150}
    assert agent.run.clock.updates == 7


def test_the_value_has_minibatches_of_the_size_that_was_asked_for(rlk_make):
    settings = {"timesteps_per_batch": 32, "vf_iters": 1, "vf_batch_size": 8}
    _, updates = watched(rlk_make, timesteps=32, **settings)
    assert [len(batch.action) for batch, _, _ in updates] == [32, 8, 8, 8, 8]


def test_a_batch_smaller_than_a_minibatch_of_the_value_is_one(rlk_make):
    _, updates = watched(rlk_make, timesteps=32, timesteps_per_batch=32, vf_iters=2)
    assert [len(batch.action) for batch, _, _ in updates] == [32, 32, 32]


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_returns_are_of_the_lambda_that_was_asked_for(rlk_make, lam):
    agent = rlk_make("trpo", env=MATCH, timesteps_per_batch=24, seed=0, lam=lam, gamma=0.9)
    agent.run.collect()
    rollout = agent.run.storage.latest()
    batch = next(iter(agent.run.algorithm.batches(agent.run.storage)))
    value, reward = rollout.extras["value"][:, 0], rollout.reward[:, 0]
    error = reward[:2] + 0.9 * value[1:3] - value[:2]  # no episode ends with these steps
    following = float(batch.return_[1] - batch.value[1])
    expected = error[0] + 0.9 * lam * following
    assert float(batch.return_[0] - batch.value[0]) == pytest.approx(float(expected), abs=1e-5)


def test_only_the_policy_learns_from_standardised_advantages(rlk_make):
    agent = rlk_make("trpo", env=MATCH, timesteps_per_batch=300, seed=0)
    agent.run.collect()
    policy, *values = agent.run.algorithm.batches(agent.run.storage)
    assert policy.advantage.mean().item() == pytest.approx(0.0, abs=1e-5)
    assert policy.advantage.std(correction=0).item() == pytest.approx(1.0, abs=1e-5)
    config, storage = agent.run.algorithm.config, agent.run.storage
    plain = advantages(storage.latest(), agent.run.policy, config.gamma, config.lam)
    returns = np.sort((plain + storage.latest().extras["value"]).reshape(-1))
    assert np.allclose(np.sort(policy.return_), returns, atol=1e-5)
    epoch = torch.cat([batch.return_ for batch in values[: len(values) // config.vf_iters]])
    assert np.allclose(np.sort(epoch), returns, atol=1e-5)


def test_advantages_are_normalised_over_the_collections_of_all_ranks(rlk_make, monkeypatch):
    agent = rlk_make("trpo", env=MATCH, timesteps_per_batch=2)
    agent.run.collect()
    given = np.float32([[2.0], [2.0]])
    monkeypatch.setattr("rlk_trpo.algorithm.logged_advantages", lambda *_: given)
    # The mean over both ranks is 1, the mean square of what is left 1/2.
    agent.run.communicator = OtherRankHasZeros()
    batch = next(iter(agent.run.algorithm.batches(agent.run.storage)))
    assert batch.advantage.tolist() == pytest.approx([2**0.5, 2**0.5])


def agent_and_batch(rlk_make, rows=40, **settings):
    """An agent and a batch of its own actions, at the parameters it acted with."""
    agent = rlk_make("trpo", env=MATCH, seed=0, policy={"layers": [5]}, **settings)
    generator = torch.Generator().manual_seed(0)
    observation = torch.randn(rows, 3, generator=generator)
    action = torch.arange(rows) % 3
    with torch.no_grad():
        parameters, value = agent.run.policy(observation, "pi", "vf")
        log_prob = torch.log_softmax(parameters, 1)[torch.arange(rows), action]
    advantage = torch.randn(rows, generator=generator)
    value = value[:, 0].clone()
    return agent, Minibatch(
        observation, action, advantage, advantage + value, value, log_prob, "pi"
    )


def reference_step(agent, batch, max_kl, damping, entcoeff):
    """The step of the paper with the whole Fisher matrix and a solution by elimination."""
    policy = agent.run.policy
    parameters = list(policy.pi.parameters())

    def losses():
        logits = policy(batch.observation, "pi")[0].double()
        chances = torch.distributions.Categorical(logits=logits)
        ratio = (chances.log_prob(batch.action) - batch.log_prob).exp()
        old = torch.distributions.Categorical(logits=logits.detach())
        kl = torch.distributions.kl_divergence(old, chances).mean()
        return (ratio * batch.advantage).mean() + entcoeff * chances.entropy().mean(), kl

    def flat(values):
        return torch.cat([value.reshape(-1) for value in values])

    gain, kl = losses()
    gradient = flat(torch.autograd.grad(gain, parameters, retain_graph=True)).double()
    kl_gradient = flat(torch.autograd.grad(kl, parameters, create_graph=True))
    rows = [flat(torch.autograd.grad(s, parameters, retain_graph=True)) for s in kl_gradient]
    matrix = torch.stack(rows).double() + damping * torch.eye(len(kl_gradient), dtype=torch.float64)
    direction = torch.linalg.solve(matrix, gradient)
    return (2 * max_kl / direction.dot(matrix @ direction)).sqrt() * direction


@pytest.mark.parametrize("entcoeff", [0.0, 0.5])
def test_the_step_of_the_policy_equals_that_of_the_paper_written_out(rlk_make, entcoeff):
    settings = {"max_kl": 0.002, "cg_damping": 0.1, "cg_iters": 40, "entcoeff": entcoeff}
    agent, batch = agent_and_batch(rlk_make, **settings)
    flat = agent.run.optimise.groups["pi"].flat
    expected = flat + reference_step(agent, batch, 0.002, 0.1, entcoeff).float()
    assert (expected - flat).abs().max().item() > 0.01
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert metrics["step_fraction_pi"].item() == 1.0
    assert torch.allclose(flat, expected, atol=1e-4)


def test_metrics_are_those_of_the_policy_before_the_step_and_of_the_step(rlk_make):
    agent, batch = agent_and_batch(rlk_make, entcoeff=0.5)
    with torch.no_grad():
        (old,) = agent.run.policy(batch.observation, "pi")
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    entropy = agent.run.distribution.entropy(old).mean().item()
    assert metrics["entropy_loss"].item() == pytest.approx(-entropy)
    gain = batch.advantage.mean().item() + 0.5 * entropy
    assert metrics["policy_objective"].item() == pytest.approx(gain, abs=1e-5)
    with torch.no_grad():
        (new,) = agent.run.policy(batch.observation, "pi")
    kl = agent.run.distribution.kl(old, new).mean().item()
    assert metrics["kl_divergence_loss_pi"].item() == pytest.approx(kl, abs=1e-6)
    assert 0.002 < kl <= 0.015


def test_a_step_of_the_policy_leaves_values_alone_and_the_other_way_round(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    groups = agent.run.optimise.groups
    before = {name: groups[name].flat.clone() for name in ("pi", "vf")}
    agent.run.algorithm.update(batch, agent.run.optimise)
    assert groups["vf"].flat.equal(before["vf"]) and not groups["pi"].flat.equal(before["pi"])
    before = {name: groups[name].flat.clone() for name in ("pi", "vf")}
    agent.run.algorithm.update(replace(batch, key="vf"), agent.run.optimise)
    assert groups["pi"].flat.equal(before["pi"]) and not groups["vf"].flat.equal(before["vf"])


def test_layers_that_both_share_are_moved_by_the_policy_alone(rlk_make):
    shared = {"net_arch": [6, {"pi": [4], "vf": [4]}]}
    agent = rlk_make("trpo", env=MATCH, seed=0, policy=shared, timesteps_per_batch=64)
    moved = {name: {id(p) for p in group.parameters}
             for name, group in agent.run.optimise.groups.items()}  # fmt: skip
    layers = {id(p) for p in agent.run.policy.shared.parameters()}
    assert layers and layers <= moved["pi"] and not layers & moved["vf"]
    before = agent.run.optimise.groups["pi"].flat.clone()
    agent.learn(64)
    changed = before != agent.run.optimise.groups["pi"].flat
    assert changed[: sum(p.numel() for p in agent.run.policy.shared.parameters())].any()


def test_the_value_takes_adams_steps_on_the_squared_error(rlk_make):
    agent, batch = agent_and_batch(rlk_make, vf_stepsize=0.01)
    other, _ = agent_and_batch(rlk_make)
    parameters = list(other.run.policy.vf.parameters())
    reference = torch.optim.Adam(parameters, lr=0.01, eps=1e-8)
    for _ in range(3):
        agent.run.algorithm.update(replace(batch, key="vf"), agent.run.optimise)
        reference.zero_grad()
        (value,) = other.run.policy(batch.observation, "vf")
        (value[:, 0] - batch.return_).square().mean().backward()
        reference.step()
    expected = other.run.optimise.groups["vf"].flat
    assert torch.allclose(agent.run.optimise.groups["vf"].flat, expected, atol=2e-5)


def test_a_gradient_that_is_not_finite_moves_nothing(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    batch.advantage[3] = float("nan")
    before = agent.run.parameters.flat.clone()
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert agent.run.parameters.flat.equal(before)
    assert not torch.isfinite(metrics["grad_norm_pi"])


def test_a_loss_that_another_plugin_refuses_is_no_step(rlk_make):
    class Refuses:
        @hookimpl
        def rlk_wrap_loss(self, run, group):
            def wrapper(loss_fn):
                def refused(*args):
                    loss = loss_fn(*args)
                    return rlk.records.Loss(
                        loss.value, loss.distribution, accept=torch.tensor(False)
                    )

                return refused

            return wrapper

    agent, batch = agent_and_batch(rlk_make, plugins=[Refuses()])
    before = agent.run.parameters.flat.clone()
    agent.run.algorithm.update(batch, agent.run.optimise)
    assert agent.run.parameters.flat.equal(before)


# ---- what it learns ------------------------------------------------------------------------------


QUICK = {"timesteps_per_batch": 128, "n_envs": 4, "max_kl": 0.1, "gamma": 0.0}


@pytest.mark.parametrize("space", ["Discrete", "MultiDiscrete", "MultiBinary"])
def test_it_learns_what_the_observation_shows(rlk_make, space):
    env = f"rlk_testing.environments:{space}Match"
    agent = rlk_make("trpo", env=env, seed=0, **QUICK)
    agent.learn(1024)
    assert mean_return(agent, env) > 7.5  # actions at random have less than 4


def test_it_learns_continuous_actions_between_bounds_that_are_not_symmetric(rlk_make):
    agent = rlk_make("trpo", env=BOX, seed=0, **QUICK)
    agent.learn(2560)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2


# ---- files ---------------------------------------------------------------------------------------


def test_a_run_that_is_resumed_ends_with_the_same_bits(rlk_make, tmp_path):
    settings = {"timesteps_per_batch": 200, "n_envs": 2, "vf_stepsize": "lin_0.001"}
    agent = rlk_make("trpo", env="Pendulum-v1", seed=3, total_timesteps=800, **settings)
    agent.learn_until(400)
    with rlk.load(agent.save_checkpoint(tmp_path / "checkpoint")) as resumed:
        assert resumed.differs == [] and resumed.num_timesteps == agent.num_timesteps == 400
        for one in (agent, resumed):
            one.learn_until(800)
        assert resumed.run.parameters.flat.equal(agent.run.parameters.flat)
        assert resumed.run.clock.state_dict() == agent.run.clock.state_dict()
