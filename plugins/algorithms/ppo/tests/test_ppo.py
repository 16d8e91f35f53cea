from __future__ import annotations

import itertools
from dataclasses import replace

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from rlk import hookimpl
from rlk.errors import PlanError
from rlk.records import Loss
from rlk_on_policy.minibatches import Minibatch
from rlk_ppo import PPOConfig
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
TINY = {"n_steps": 8, "batch_size": 4, "n_epochs": 3, "n_envs": 2, "seed": 0}


class TestPPO(AlgorithmContract):
    component = "ppo"


class TestPPOWithLimits(AlgorithmContract):
    component = "ppo"
    variant = True
    settings = {"clip_range_vf": 0.2, "target_kl": 0.01, "learning_rate": "lin_0.01"}


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines3():
    assert attrs.asdict(PPOConfig()) == {
        "learning_rate": 3e-4,
        "n_steps": 2048,
        "batch_size": 64,
        "n_epochs": 10,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "clip_range_vf": None,
        "normalize_advantage": True,
        "ent_coef": 0.0,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
        "use_sde": False,
        "sde_sample_freq": -1,
        "target_kl": None,
        "stats_window_size": 100,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": -0.1},
        {"gae_lambda": 1.1},
        {"n_steps": 0},
        {"batch_size": 0},
        {"n_epochs": 0},
        {"clip_range": "lin_x"},
        {"clip_range": 0.0},
        {"clip_range_vf": -1.0},
        {"target_kl": 0.0},
        {"sde_sample_freq": 0},
        {"max_grad_norm": -1.0},
        {"ent_coef": -0.1},
        {"stats_window_size": 0},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PPOConfig(**wrong)


@pytest.mark.parametrize(
    ("batch_size", "sizes"),
    [(16, [16]), (8, [8, 8]), (7, [5, 6, 5]), (9, [8, 8])],
)
def test_minibatches_have_at_most_batch_size_transitions_and_are_even(rlk_make, batch_size, sizes):
    agent = rlk_make("ppo", env=MATCH, **{**TINY, "batch_size": batch_size, "n_epochs": 1})
    agent.run.collect()
    batches = list(agent.run.algorithm.batches(agent.run.storage))
    assert [len(batch.action) for batch in batches] == sizes


def test_every_epoch_is_a_pass_over_the_collection(rlk_make):
    agent = rlk_make("ppo", env=MATCH, **TINY)
    agent.learn(32)
    assert agent.run.clock.iterations == 2
    assert agent.run.clock.updates == 2 * 3 * 4


def test_a_batch_that_a_collection_cannot_give_is_refused(rlk_make):
    with pytest.raises(
        PlanError, match=r"'ppo'.*batch_size=7 .*= 6\. Use --set batch_size=6 or less"
    ):
        rlk_make("ppo", env=MATCH, n_steps=3, n_envs=2, batch_size=7)
    rlk_make("ppo", env=MATCH, n_steps=3, n_envs=2, batch_size=6).learn(6)


def test_a_collection_of_one_transition_asks_for_more_steps(rlk_make):
    with pytest.raises(PlanError, match=r" = 1\. Use a larger n_steps\."):
        rlk_make("ppo", env=MATCH, n_steps=1, batch_size=64)
    with pytest.raises(PlanError, match=r"single transition.*Use a larger n_steps, or --set norm"):
        rlk_make("ppo", env=MATCH, n_steps=1, batch_size=1)
    with pytest.raises(PlanError, match=r"Use --set batch_size=1 or less, or a larger n_steps"):
        rlk_make("ppo", env=MATCH, n_steps=1, batch_size=2, normalize_advantage=False)


@pytest.mark.parametrize(("n_steps", "batch_size"), [(4, 1), (1, 1), (3, 2)])
def test_a_single_advantage_cannot_be_normalised(rlk_make, n_steps, batch_size):
    settings = {"env": MATCH, "n_steps": n_steps, "batch_size": batch_size}
    with pytest.raises(PlanError, match="--set normalize_advantage=false"):
        rlk_make("ppo", **settings)
    rlk_make("ppo", normalize_advantage=False, **settings).learn(n_steps)


def test_figures_of_episodes_are_means_over_the_window(rlk_make):
    agent = rlk_make("ppo", env=MATCH, stats_window_size=3, **TINY)
    agent.learn(96)
    assert agent.run.clock.episodes == 12 and len(agent.run.metrics.recent_episodes) == 3


# ---- one update ----------------------------------------------------------------------------------


def agent_and_batch(rlk_make, rows=12, **settings):
    """An agent and a batch of its own actions, at the parameters it acted with."""
    agent = rlk_make("ppo", env=MATCH, seed=0, **settings)
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


def reference_loss(agent, batch, advantage, clip_range_vf):
    """The loss of Stable-Baselines3, written out once more."""
    logits, value = agent.run.policy(batch.observation, "pi", "vf")
    chances = torch.distributions.Categorical(logits=logits)
    ratio = (chances.log_prob(batch.action) - batch.log_prob).exp()
    policy = -torch.min(advantage * ratio, advantage * ratio.clamp(0.8, 1.2)).mean()
    value = value[:, 0]
    if clip_range_vf is not None:
        value = batch.value + (value - batch.value).clamp(-clip_range_vf, clip_range_vf)
    error = torch.nn.functional.mse_loss(batch.return_, value)
    return policy - 0.01 * chances.entropy().mean() + 0.25 * error


def adam(parameters, learning_rate):
    """Adam, written out once more: what takes its next step."""
    state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    numbers = itertools.count(1)

    def step():
        number = next(numbers)
        for parameter, (mean, square) in zip(parameters, state, strict=True):
            mean.mul_(0.9).add_(0.1 * parameter.grad)
            square.mul_(0.999).add_(0.001 * parameter.grad**2)
            root = (square / (1 - 0.999**number)).sqrt() + 1e-5
            parameter.data -= learning_rate * mean / (1 - 0.9**number) / root

    return step


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("clip_range_vf", [None, 0.5])
def test_three_updates_equal_those_of_torch_on_the_loss_written_out(
    rlk_make, normalised, clip_range_vf
):
    settings = {
        "learning_rate": 0.01,
        "clip_range_vf": clip_range_vf,
        "normalize_advantage": normalised,
        "ent_coef": 0.01,
        "vf_coef": 0.25,
    }
    agent, batch = agent_and_batch(rlk_make, **settings)
    other, same = agent_and_batch(rlk_make, **settings)
    parameters = list(other.run.policy.parameters())
    step = adam(parameters, learning_rate=0.01)
    advantage = same.advantage
    if normalised:
        advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    for _ in range(3):
        agent.run.algorithm.update(batch, agent.run.optimise)
        other.run.policy.zero_grad()
        reference_loss(other, same, advantage, clip_range_vf).backward()
        clip_grad_norm_(parameters, 0.5)
        step()
    assert torch.allclose(agent.run.parameters.flat, other.run.parameters.flat, atol=2e-5)


@pytest.mark.parametrize(("ratio", "fraction"), [(1.15, 0.0), (1.3, 1.0)])
def test_a_ratio_is_clipped_outside_of_the_range_that_is_set(rlk_make, ratio, fraction):
    agent, batch = agent_and_batch(rlk_make, clip_range=0.2)
    other = replace(batch, stored_log_prob=batch.log_prob - np.log(ratio))
    found = agent.run.algorithm.loss(other, other.advantage).metrics["clip_fraction"]
    assert found.item() == fraction


def test_metrics_are_those_of_the_first_update_of_a_batch(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert metrics["approx_kl"].item() == pytest.approx(0.0, abs=1e-7)
    assert metrics["clip_fraction"].item() == 0.0
    assert metrics["policy_gradient_loss"].item() == pytest.approx(0.0, abs=1e-6)
    assert metrics["value_loss"].item() == pytest.approx(float(batch.advantage.square().mean()))
    assert metrics["entropy_loss"].item() == pytest.approx(-np.log(3), abs=0.01)  # near to uniform


def test_scheduled_numbers_follow_what_remains_of_the_run(rlk_make):
    rates = {"learning_rate": "lin_0.1", "clip_range": "lin_0.4", "clip_range_vf": "lin_0.8"}
    agent = rlk_make("ppo", env=MATCH, **TINY, **rates)
    agent.learn(32)  # the second of two collections was made when half remained
    run = agent.run
    found = (run.optimise.groups["policy"].learning_rate, run.algorithm.clip_range)
    assert [one.item() for one in found] == pytest.approx([0.05, 0.2])
    assert run.algorithm.clip_range_vf.item() == pytest.approx(0.4)


# ---- target_kl -----------------------------------------------------------------------------------


def moved(batch, log_ratio):
    """The same batch, had the old policy been less sure of its actions by so much."""
    return replace(batch, stored_log_prob=batch.log_prob - log_ratio)


@pytest.mark.parametrize(("target_kl", "is_taken"), [(0.2, False), (0.21, True)])
def test_a_step_is_taken_up_to_one_and_a_half_times_the_target(rlk_make, target_kl, is_taken):
    agent, batch = agent_and_batch(rlk_make, target_kl=target_kl)
    run, before = agent.run, agent.run.parameters.flat.clone()
    # (2 - 1) - log 2 = 0.307 for all: more than 1.5 * 0.2, less than 1.5 * 0.21.
    update = run.algorithm.update(moved(batch, np.log(2.0)), run.optimise)
    assert update.metrics["approx_kl"].item() == pytest.approx(1.0 - np.log(2.0), abs=1e-6)
    assert before.equal(run.parameters.flat) is not is_taken


def test_epochs_end_with_the_first_minibatch_that_went_too_far(rlk_make):
    agent = rlk_make(
        "ppo", env=MATCH, **{**TINY, "n_epochs": 50}, target_kl=0.01, learning_rate=0.1
    )
    run, steps = agent.run, []
    run.collect()
    for batch in run.algorithm.batches(run.storage):
        before = run.parameters.flat.clone()
        update = run.algorithm.update(batch, run.optimise)
        too_far = update.metrics["approx_kl"].item() > 0.015
        assert before.equal(run.parameters.flat) is too_far
        steps.append(too_far)
    assert steps == [False] * (len(steps) - 1) + [True] and 1 < len(steps) < 200


def test_the_next_collection_is_learnt_from_again(rlk_make):
    agent = rlk_make("ppo", env=MATCH, **TINY, target_kl=1e-9, learning_rate=0.01)
    agent.learn(64)
    # Each collection has a first minibatch at the policy that acted, and a second that is refused.
    assert agent.run.clock.iterations == 4 and agent.run.clock.updates == 8


@pytest.mark.parametrize("target_kl", [None, 1e-9])
def test_rows_count_the_steps_that_were_taken(rlk_make, target_kl):
    rows = []

    class Listens:
        @hookimpl
        def rlk_write_row(self, row):
            rows.append(row["train/n_updates"])

    settings = {"target_kl": target_kl, "learning_rate": 0.01, "log_interval": 1}
    agent = rlk_make("ppo", env=MATCH, **TINY, **settings, plugins=[Listens()])
    agent.learn(64)
    assert len(rows) == 4 and rows[-1] == int(agent.run.optimise.steps["policy"].count)
    assert (agent.run.clock.updates - rows[-1]) == (0 if target_kl is None else 4)


def test_the_divergence_is_the_mean_over_ranks(rlk_make):
    agent, batch = agent_and_batch(rlk_make, target_kl=0.2)
    agent.run.communicator, accepted = OtherRankHasZeros(), []

    def optimise(group, loss, *args):
        accepted.append(bool(loss(*args).accept))
        return Loss(torch.zeros(()))

    agent.run.algorithm.update(moved(batch, np.log(2.0)), optimise)
    assert accepted == [True], "0.307 here and 0 there are 0.153, less than 0.3"


def test_ranks_stop_together(rlk_make):
    agent = rlk_make("ppo", env=MATCH, **TINY, target_kl=1.0)

    class RankZeroStops:
        size, rank = 1, 1
        mean = staticmethod(lambda value: value)
        agree = staticmethod(lambda value: True)

    agent.run.collect()
    agent.run.communicator = RankZeroStops()
    assert len(list(agent.run.algorithm.batches(agent.run.storage))) == 1


# ---- recurrent policies and dicts ----------------------------------------------------------------


LSTM = {"policy": "lstm", "lstm": {"n_lstm": 4, "layers": [4]}}


@pytest.mark.parametrize(
    ("batch_size", "steps", "environments"),
    [(4, 4, 1), (2, 2, 1), (8, 8, 1), (16, 8, 2)],
)
def test_a_recurrent_minibatch_is_a_sequence_or_several(rlk_make, batch_size, steps, environments):
    settings = {**TINY, "batch_size": batch_size, "n_epochs": 1}
    agent = rlk_make("ppo", env=MATCH, **settings, **LSTM)
    run = agent.run
    for _ in range(2):
        run.collect()
    for batch in run.algorithm.batches(run.storage):
        assert batch.episode_start.shape == (steps, environments)
        with torch.no_grad():
            parameters, value = batch.outputs(run.policy, "pi", "vf")
        log_prob = run.distribution.log_prob(parameters, batch.action)
        assert torch.allclose(log_prob, batch.log_prob, atol=1e-5), "unrolled from another state"
        assert torch.allclose(value[:, 0], batch.value, atol=1e-5)


@pytest.mark.parametrize(
    ("batch_size", "told"), [(3, "batch_size=2 or 4"), (12, "batch_size=8 or 16"), (6, "4 or 8")]
)
def test_recurrent_minibatches_that_do_not_divide_are_refused(rlk_make, batch_size, told):
    with pytest.raises(PlanError, match=rf"'ppo'.*batch_size={batch_size}.*--set .*{told}"):
        rlk_make("ppo", env=MATCH, **{**TINY, "batch_size": batch_size}, **LSTM)


class Two(gym.Env):
    """A Dict of a number that says which action is right, and of one that says nothing."""

    observation_space = gym.spaces.Dict(
        {"right": gym.spaces.Discrete(2), "noise": gym.spaces.Box(-1.0, 1.0, (2,), np.float32)}
    )
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action):
        reward, self.steps = float(action == self.right), self.steps + 1
        return self._show(), reward, self.steps == 8, False, {}

    def _show(self):
        self.right = int(self.np_random.integers(2))
        return {"right": self.right, "noise": self.np_random.uniform(-1, 1, 2).astype(np.float32)}


#: Large steps, so that a few hundred timesteps teach a Match.
QUICK = {
    "n_steps": 32,
    "n_envs": 4,
    "batch_size": 32,
    "n_epochs": 4,
    "learning_rate": 0.01,
    "gamma": 0.0,
    "seed": 0,
}


def test_it_learns_from_observations_that_are_dicts(rlk_make):
    agent = rlk_make("ppo", env=Two, policy="multi-input", **QUICK)
    agent.learn(768)
    assert mean_return(agent, Two) == 8.0


def test_it_learns_what_the_observation_shows(rlk_make):
    agent = rlk_make("ppo", env=MATCH, policy={"layers": [32]}, **QUICK)
    agent.learn(1024)
    assert mean_return(agent, MATCH) == 8.0  # actions at random have 2.7


def test_it_learns_continuous_actions_between_bounds_that_are_not_symmetric(rlk_make):
    agent = rlk_make("ppo", env=BOX, policy={"layers": [32]}, **QUICK)
    agent.learn(1536)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2
