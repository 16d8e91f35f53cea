from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import NotFinite, PlanError
from rlk_acktr import ACKTRConfig
from rlk_kfac import KfacConfig
from rlk_on_policy.gae import gae, next_values
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL = {"layers": [16]}
SHORT = {"env": MATCH, "seed": 0, "n_steps": 4, "policy": SMALL, "kfac.cold_iter": 2}


class TestACKTR(AlgorithmContract):
    component = "acktr"
    settings = {"n_steps": 5, "lr_schedule": "constant"}


# ---- hyperparameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["kfac_clip", "kfac_update", "vf_fisher_coef", "async_eigen_decomp"]
)
def test_a_setting_that_goes_to_the_optimiser_has_its_words_default_and_limits(name):
    own, of_optimiser = (
        getattr(attrs.fields(ACKTRConfig), name),
        getattr(attrs.fields(KfacConfig), name),
    )
    assert own.metadata == of_optimiser.metadata and own.default == of_optimiser.default
    assert own.validator == of_optimiser.validator


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(ACKTRConfig()) == {
        "gamma": 0.99,
        "n_steps": 20,
        "ent_coef": 0.01,
        "vf_coef": 0.25,
        "vf_fisher_coef": 1.0,
        "learning_rate": 0.25,
        "max_grad_norm": 0.5,
        "kfac_clip": 0.001,
        "lr_schedule": "linear",
        "async_eigen_decomp": False,
        "kfac_update": 1,
        "gae_lambda": None,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.1},
        {"n_steps": 0},
        {"ent_coef": -0.1},
        {"vf_coef": -0.1},
        {"vf_fisher_coef": -0.1},
        {"learning_rate": "lin_x"},
        {"max_grad_norm": 0.0},
        {"kfac_clip": 0.0},
        {"lr_schedule": "sudden"},
        {"lr_schedule": "linear", "learning_rate": "lin_0.25"},
        {"kfac_update": 0},
        {"gae_lambda": 1.1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ACKTRConfig(**wrong)


#: Of every hyperparameter another value than that of the run it is compared with.
OTHERS = {
    "gamma": 0.5,
    "n_steps": 5,
    "ent_coef": 0.5,
    "vf_coef": 1.0,
    "vf_fisher_coef": 0.1,
    "learning_rate": 0.025,
    "max_grad_norm": 0.01,
    "kfac_clip": 0.01,
    "lr_schedule": "constant",
    "async_eigen_decomp": True,
    "kfac_update": 2,
    "gae_lambda": 0.5,
}


def test_every_hyperparameter_has_another_value_to_try():
    assert OTHERS.keys() == {field.name for field in attrs.fields(ACKTRConfig)}


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        *(({}, {name: value}) for name, value in OTHERS.items()),
        ({"vf_coef": 100.0}, {"max_grad_norm": None}),  # gradients that are long enough to clip
    ],
    ids=str,
)
def test_every_hyperparameter_changes_what_is_learnt(rlk_make, usual, other):
    one, another = (rlk_make("acktr", **{**SHORT, **usual, **more}) for more in ({}, other))
    for agent in (one, another):
        agent.learn(20)
    assert not one.run.parameters.flat.equal(another.run.parameters.flat)


def test_those_of_kfac_are_those_of_the_optimiser(rlk_make):
    names = {
        "kfac_clip": 0.02,
        "kfac_update": 3,
        "async_eigen_decomp": True,
        "vf_fisher_coef": 0.5,
    }
    for settings in (names, {f"kfac.{name}": value for name, value in names.items()}):
        step = rlk_make("acktr", env=MATCH, **settings).run.optimise.steps["policy"]
        assert {name: getattr(step.config, name) for name in names} == names
    with pytest.raises(PlanError, match=r"kfac_clip=0\.1.*one setting with two values"):
        rlk_make("acktr", env=MATCH, kfac_clip=0.1, **{"kfac.kfac_clip": 0.2})


def test_its_optimiser_can_be_replaced(rlk_make):
    agent = rlk_make("acktr", env=MATCH, n_steps=4, learning_rate=0.01, optimiser="adam")
    agent.learn(4)
    assert type(agent.run.optimise.steps["policy"]).__name__ == "Adam"


def test_a2c_with_its_settings_and_optimiser_is_acktr(rlk_make):
    small = {"env": MATCH, "n_steps": 4, "seed": 0}
    acktr = rlk_make("acktr", **small, **{"kfac.cold_iter": 2})
    settings = {"learning_rate": 0.25, "lr_schedule": "linear", "kfac.cold_iter": 2}
    a2c = rlk_make("a2c", **small, optimiser="kfac", **settings)
    for agent in (acktr, a2c):
        agent.learn(20)
    assert a2c.run.parameters.flat.equal(acktr.run.parameters.flat)


# ---- one collection ------------------------------------------------------------------------------


def test_there_is_one_update_of_everything_for_every_collection(rlk_make):
    agent = rlk_make("acktr", **{**SHORT, "n_envs": 3})
    agent.learn(36)
    assert agent.run.clock.iterations == agent.run.clock.updates == 3


@pytest.mark.parametrize("gae_lambda", [None, 0.7])
def test_advantages_are_of_n_steps_unless_a_lambda_is_given(rlk_make, gae_lambda):
    agent = rlk_make("acktr", **{**SHORT, "n_steps": 6, "n_envs": 2, "gae_lambda": gae_lambda})
    run = agent.run
    run.collect()
    rollout = run.storage.latest()
    (batch,) = run.algorithm.batches(run.storage)
    ended, value = rollout.terminated | rollout.truncated, rollout.extras["value"]
    with torch.no_grad():
        (last,) = run.policy(torch.from_numpy(rollout.next_observation), "vf")
    if ended.any():
        pytest.fail("episodes of a Match are longer than six steps")
    nothing = np.empty(0)
    following = next_values(
        value, last[:, 0].numpy(), ended, ended, nothing.astype(int), nothing.astype(int), nothing
    )
    lam = 1.0 if gae_lambda is None else gae_lambda
    expected = gae(rollout.reward, value, following, ended, 0.99, lam)
    assert np.allclose(batch.advantage.view(6, 2), expected, atol=1e-5)
    if gae_lambda is None:  # the discounted rewards to the end, and the value there
        powers = 0.99 ** np.arange(7)[:, None]
        returned = (powers * np.vstack([rollout.reward, last[:, 0].numpy()])).sum(0)
        assert np.allclose(batch.return_.view(6, 2)[0], returned, atol=1e-5)


def batch_with(rlk_make, monkeypatch, advantage, **settings):
    """The batch of a collection of three steps with these advantages, float [3, 1]."""
    agent = rlk_make("acktr", **{**SHORT, "n_steps": 3, "n_envs": 1, **settings})
    given = np.float32(advantage)
    monkeypatch.setattr("rlk_acktr.algorithm.logged_advantages", lambda *_: given)
    agent.run.collect()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    return batch


def test_advantages_of_continuous_actions_are_normalised(rlk_make, monkeypatch):
    batch = batch_with(rlk_make, monkeypatch, [[1.0], [2.0], [6.0]], env=BOX)
    # Their mean is 3, their variance (4 + 1 + 9) / 3.
    deviation = (14.0 / 3.0) ** 0.5
    assert batch.advantage.tolist() == pytest.approx(
        [-2 / deviation, -1 / deviation, 3 / deviation]
    )
    assert (batch.return_ - batch.value).tolist() == pytest.approx([1.0, 2.0, 6.0], abs=1e-5)


def test_advantages_are_normalised_over_the_collections_of_all_ranks(rlk_make, monkeypatch):
    agent = rlk_make("acktr", env=BOX, n_steps=2, n_envs=1)
    agent.run.collect()
    given = np.float32([[2.0], [2.0]])
    monkeypatch.setattr("rlk_acktr.algorithm.logged_advantages", lambda *_: given)
    # The mean over both ranks is 1, the mean square of what is left 1/2.
    agent.run.communicator = OtherRankHasZeros()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    assert batch.advantage.tolist() == pytest.approx([2**0.5, 2**0.5])


def test_advantages_of_other_actions_are_used_as_they_are(rlk_make, monkeypatch):
    batch = batch_with(rlk_make, monkeypatch, [[1.0], [2.0], [6.0]], env=MATCH)
    assert batch.advantage.tolist() == [1.0, 2.0, 6.0]


def test_a_single_continuous_action_is_refused_because_its_advantage_would_be_zero(rlk_make):
    with pytest.raises(PlanError, match=r"single transition.*--set n_steps=2 or more"):
        rlk_make("acktr", env=BOX, n_steps=1, n_envs=1)
    rlk_make("acktr", env=BOX, n_steps=1, n_envs=2)
    rlk_make("acktr", env=MATCH, n_steps=1, n_envs=1)


def test_a_row_of_metrics_has_the_parts_of_the_loss_and_the_step(rlk_make):
    agent = rlk_make("acktr", **SHORT)
    agent.run.collect()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    metrics = agent.run.update(batch, agent.run.optimise).metrics
    parts = metrics["policy_loss"] + 0.25 * metrics["value_loss"] + 0.01 * metrics["entropy_loss"]
    assert metrics["loss"].item() == pytest.approx(parts.item())
    assert 0.0 < metrics["step_scale"].item() <= 1.0 and metrics["grad_norm"].item() > 0.0


def test_inverting_in_a_thread_a_restored_checkpoint_learns_on_bit_for_bit(rlk_make, tmp_path):
    settings = {"env": MATCH, "n_steps": 4, "n_envs": 2, "lr_schedule": "constant", "seed": 0}
    agent = rlk_make("acktr", **settings, async_eigen_decomp=True, kfac_update=3)
    agent.learn(8 * 17)
    with rlk.load(agent.save_checkpoint(tmp_path / "checkpoint"), env=MATCH) as restored:
        assert restored.run.optimise.steps["policy"].inverses.coming()
        for one in (agent, restored):
            one.learn(8 * 8, reset_num_timesteps=False)
        assert restored.run.parameters.flat.equal(agent.run.parameters.flat)


class Huge(gym.ObservationWrapper):
    """Observations are float32, and their squares are not."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def observation(self, observation):
        return np.full(4, 3e19, np.float32)


def test_a_fisher_matrix_that_is_not_finite_ends_the_run(rlk_make):
    agent = rlk_make("acktr", env=lambda: Huge(gym.make("CartPole-v1")), n_steps=4, seed=0)
    before = agent.get_parameters()
    with pytest.raises(NotFinite, match="'step_scale' is nan in update 1 "):
        agent.learn(400)
    assert all(np.array_equal(before[name], one) for name, one in agent.get_parameters().items())


# ---- what it learns ------------------------------------------------------------------------------

#: A trust region ten times as wide as by default: a Match is learnt within seconds.
QUICK = {"n_envs": 4, "n_steps": 16, "gamma": 0.0, "kfac_clip": 0.01, "policy": SMALL}


def test_it_learns_what_the_observation_shows(rlk_make):
    agent = rlk_make("acktr", env=MATCH, seed=0, **QUICK)
    agent.learn(2500)
    assert mean_return(agent, MATCH) > 7.8  # actions at random have 2.7


def test_it_learns_continuous_actions(rlk_make):
    agent = rlk_make("acktr", env=BOX, seed=0, ent_coef=0.0, **QUICK)
    agent.learn(5000)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2


@pytest.mark.parametrize("policy", ["lstm", "ln-lstm"])
def test_it_learns_with_a_recurrent_policy(rlk_make, policy):
    sizes = {"policy.n_lstm": 16, "policy.layers": [16]}
    agent = rlk_make("acktr", env=MATCH, seed=0, **{**QUICK, "policy": policy}, **sizes)
    agent.learn(2500)
    assert mean_return(agent, MATCH) > 7.0
