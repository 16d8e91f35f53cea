from __future__ import annotations

import math

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import BadFile, PlanError
from rlk_sac import SACConfig
from rlk_testing import AlgorithmContract, OffPolicyContract

MATCH = "rlk_testing.environments:BoxMatch"
SMALL = {"learning_starts": 50, "batch_size": 32, "policy": {"layers": [32]}}


class TestSAC(OffPolicyContract):
    component = "sac"


class TestSACWithGSDE(OffPolicyContract):
    """Its actor has a carry, the noise that it holds."""

    component = "sac"
    variant = True
    settings = {"use_sde": True}


class TestSACWithGSDEPrioritiesNoiseAndAFixedEntropy(AlgorithmContract):
    component = "sac"
    variant = True
    settings = {
        "use_sde": True,
        "sde_sample_freq": 3,
        "ent_coef": 0.05,
        "random_exploration": 0.1,
        "target_update_interval": 3,
        "gradient_steps": 2,
        "n_critics": 3,
        "action_noise": "ornstein-uhlenbeck-noise:sigma=0.3,dt=0.5",
    }

    def agent(self, **settings):
        joined = ["prioritized-replay", *settings.pop("plugins", [])]
        return super().agent(**settings, plugins=joined)


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(SACConfig()) == {
        "gamma": 0.99,
        "learning_rate": 0.0003,
        "buffer_size": 50_000,
        "learning_starts": 100,
        "train_freq": 1,
        "batch_size": 64,
        "tau": 0.005,
        "ent_coef": "auto",
        "target_update_interval": 1,
        "gradient_steps": 1,
        "target_entropy": "auto",
        "action_noise": None,
        "random_exploration": 0.0,
        # Stable-Baselines3's:
        "n_critics": 2,
        "use_sde": False,
        "sde_sample_freq": -1,
        "use_sde_at_warmup": False,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.5},
        {"learning_rate": "lin"},
        {"buffer_size": 0},
        {"train_freq": 0},
        {"tau": -0.1},
        {"ent_coef": "automatic"},
        {"ent_coef": "auto_"},
        {"ent_coef": "auto_0"},
        {"ent_coef": "auto_x"},
        {"ent_coef": -0.1},
        {"ent_coef": math.nan},
        {"target_update_interval": 0},
        {"gradient_steps": 0},
        {"n_critics": 0},
        {"gradient_steps": -2},
        {"target_entropy": "automatic"},
        {"target_entropy": math.inf},
        {"random_exploration": 1.1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SACConfig(**wrong)


@pytest.mark.parametrize("pair", [(1, "episode"), [1, "episode"]])
def test_a_train_freq_of_stable_baselines3_is_kept_by_files(rlk_make, tmp_path, pair):
    with rlk_make("sac", env=MATCH, train_freq=pair, **SMALL) as agent:
        agent.learn(60)
        agent.save(tmp_path / "there.zip")
    with rlk.load(tmp_path / "there.zip", env=MATCH) as loaded:
        assert loaded.plan.algorithm.config.train_freq == (1, "episode")


@pytest.mark.parametrize(
    ("ent_coef", "learnt", "initial"),
    [("auto", True, 1.0), ("auto_0.1", True, 0.1), (0.2, False, 0.2), (0, False, 0.0)],
)
def test_the_entropys_weight_is_learnt_from_a_value_on_or_fixed(
    rlk_make, ent_coef, learnt, initial
):
    agent = rlk_make("sac", env=MATCH, seed=0, ent_coef=ent_coef, **SMALL)
    algorithm = agent.run.algorithm
    assert float(algorithm.alpha.value()) == pytest.approx(initial)
    assert ("entropy" in agent.run.optimise.groups) == learnt
    agent.learn(100)
    assert (float(algorithm.alpha.value()) != pytest.approx(initial)) == learnt


def test_a_fixed_weight_of_the_entropy_cannot_be_learnt_from_there(rlk_make, tmp_path):
    path = rlk_make("sac", env=MATCH, ent_coef=0.2, **SMALL).save(tmp_path / "model")
    with pytest.raises(
        BadFile, match=r"'sac'.*cannot be restored: this was saved by a run with a fixed ent_coef"
    ):
        rlk.load(path, env=MATCH, ent_coef="auto")
    with rlk.load(path, env=MATCH) as agent:
        assert float(agent.run.algorithm.alpha.value()) == pytest.approx(0.2)


def test_the_wanted_entropy_is_minus_the_number_of_actions_unless_said(rlk_make):
    assert rlk_make("sac", env=MATCH).run.algorithm.alpha.target_entropy == -2.0
    assert (
        rlk_make("sac", env=MATCH, target_entropy=-0.5).run.algorithm.alpha.target_entropy == -0.5
    )
    assert (
        rlk_make("sac", env=MATCH, target_entropy="-2").run.algorithm.alpha.target_entropy == -2.0
    )


def test_its_buffer_size_reaches_the_replay(rlk_make):
    agent = rlk_make("sac", env=MATCH, buffer_size=77)
    assert agent.plan.storages[0].config.buffer_size == 77


def test_a_buffer_that_never_holds_a_batch_is_refused(rlk_make):
    with pytest.raises(PlanError, match="would never learn"):
        rlk_make("sac", env=MATCH, buffer_size=64, batch_size=64, n_envs=3)
    assert rlk_make("sac", env=MATCH, buffer_size=66, batch_size=64, n_envs=3)


def test_another_distribution_is_refused_with_what_it_lacks(rlk_make):
    with pytest.raises(PlanError, match="DiagGaussian has none"):
        rlk_make("sac", env=MATCH, distribution="diag-gaussian")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"use_sde": True, "gsde.squash_output": False}, "squash_output=false leaves them"),
        ({"use_sde_at_warmup": True}, "no effect without use_sde. Use --set use_sde=true, or"),
        ({"sde_sample_freq": 4}, "sde_sample_freq=4 is for 'gsde', .* Use --set use_sde=true, or"),
        ({"ent_coef": 0.1, "target_entropy": -1.0}, "ent_coef=0.1 is fixed. Use .*ent_coef=auto"),
    ],
)
def test_settings_that_would_have_no_effect_are_refused(rlk_make, settings, message):
    with pytest.raises(PlanError, match=message):
        rlk_make("sac", env=MATCH, **settings)


def test_actions_that_can_be_counted_are_refused(rlk_make):
    with pytest.raises(PlanError, match="serves action spaces Box"):
        rlk_make("sac", env="CartPole-v1")


def test_bounds_that_are_infinite_are_refused(rlk_make):
    class Unbounded(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Box(-np.inf, np.inf, (2,))

    with pytest.raises(PlanError, match="a bound is infinite"):
        rlk_make("sac", env=Unbounded)


def test_its_settings_are_written_as_users_write_them(rlk_make):
    agent = rlk_make("sac", env=MATCH, action_noise="normal-noise:sigma=0.3")
    assert agent.plan.noises[0].name == "normal-noise" and agent.plan.noises[0].config.sigma == 0.3
    agent = rlk_make("sac", env=MATCH, plugins=["ornstein-uhlenbeck-noise:sigma=0.3"])
    assert agent.plan.noises[0].name == "ornstein-uhlenbeck-noise"
    assert rlk_make("sac", env=MATCH).plan.noises == ()


# ---- when it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [1, 3])
def test_the_target_moves_every_so_many_updates(rlk_make, interval):
    agent = rlk_make("sac", env=MATCH, seed=0, target_update_interval=interval, **SMALL)
    algorithm, moved = agent.run.algorithm, []
    update = agent.run.update

    def watched(batch, optimise):
        before = algorithm.target.flat.clone()
        made = update(batch, optimise)
        moved.append(not before.equal(algorithm.target.flat))
        return made

    agent.run.update = watched
    agent.learn(57)
    assert moved == [i % interval == 0 for i in range(8)]
