"""Hyperparameters that a program sets as attributes of a model are used, or refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import rlk_baselines
import rlk_sb3
from rlk_baselines import DDPG, DQN, GAIL, HER, PPO2, SAC, TD3
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.noise import NormalActionNoise
from rlk_baselines.gail import ExpertDataset
from rlk_testing.tools.states import same

SMALL = {"n_steps": 32, "nminibatches": 1}
OFF = {"learning_starts": 5, "batch_size": 8, "buffer_size": 500}


class Setting(BaseCallback):
    """Sets an attribute of the model before every collection."""

    def __init__(self, **values: Any) -> None:
        super().__init__()
        self.values = values

    def _on_rollout_start(self) -> None:
        for name, value in self.values.items():
            setattr(self.model, name, value)

    def _on_step(self) -> bool:
        return True


def parameters(model: Any) -> dict[str, Any]:
    """The parameters that optimisers train, without targets and averages."""
    found = model.agent.get_parameters()
    return {name: one for name, one in found.items() if name.startswith(("model/", "log_ent_coef"))}


def has_moved(model: Any, timesteps: int = 64) -> bool:
    before = parameters(model)
    model.learn(timesteps)
    after = parameters(model)
    return any(not np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("kind", "env", "keywords"),
    [
        (rlk_baselines.A2C, "CartPole-v1", {}),
        (rlk_baselines.ACER, "CartPole-v1", {}),
        (rlk_baselines.PPO2, "CartPole-v1", SMALL),
        (rlk_baselines.DQN, "CartPole-v1", OFF),
        (rlk_baselines.SAC, "Pendulum-v1", OFF),
        (rlk_baselines.TD3, "Pendulum-v1", {**OFF, "train_freq": 10, "gradient_steps": 10}),
        (rlk_sb3.PPO, "CartPole-v1", {"n_steps": 32, "batch_size": 32}),
        (rlk_sb3.SAC, "Pendulum-v1", OFF),
    ],
)
def test_a_learning_rate_that_is_set_counts_in_the_next_learn(kind, env, keywords) -> None:
    model = kind("MlpPolicy", env, seed=0, **keywords)
    assert has_moved(model)
    model.learning_rate = 0.0
    assert not has_moved(model)
    assert model.learning_rate == 0.0
    model.learning_rate = kind("MlpPolicy", env, **keywords).learning_rate  # the default again
    assert has_moved(model)


def test_a_model_continues_with_its_replay_its_count_and_other_settings() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", seed=0, gamma=0.9, **OFF).learn(100)
    model.learning_starts = 10**9
    assert not has_moved(model)
    assert (model.gamma, model.agent.plan.algorithm.config.gamma) == (0.9, 0.9)
    assert (model.num_timesteps, len(model.agent.run.storage)) == (64, 164)
    model.buffer_size = 120
    model.learn(20, reset_num_timesteps=False)
    assert (model.num_timesteps, len(model.agent.run.storage)) == (84, 120)


@pytest.mark.parametrize(
    ("name", "attribute", "keywords"),
    [
        ("PPO2", "n_steps", {"nminibatches": 1}),
        ("A2C", "n_steps", {}),
        ("ACER", "n_steps", {}),
        ("ACKTR", "n_steps", {}),
        ("TRPO", "timesteps_per_batch", {}),
        ("PPO1", "timesteps_per_actorbatch", {"optim_batchsize": 8}),
    ],
)
def test_collections_may_become_shorter_and_longer(name, attribute, keywords) -> None:
    kind = getattr(rlk_baselines, name)
    model = kind("MlpPolicy", "CartPole-v1", **{attribute: 16}, **keywords).learn(32)
    for length in (8, 24):
        setattr(model, attribute, length)
        assert model.learn(length).num_timesteps == length


@pytest.mark.parametrize(
    ("switch", "plugin"),
    [("prioritized_replay", "prioritized-replay"), ("param_noise", "adaptive-parameter-noise")],
)
def test_a_plugin_that_an_attribute_put_in_is_taken_out_and_put_in_again(
    switch, plugin, tmp_path
) -> None:
    def has_it(model: Any) -> bool:
        return plugin in [
            one.name for one in (*model.agent.plan.storages, *model.agent.plan.noises)
        ]

    model = DQN("MlpPolicy", "CartPole-v1", **OFF, **{switch: True})
    model.save(tmp_path / "model")
    loaded = DQN.load(tmp_path / "model", **{switch: False})
    assert (getattr(loaded, switch), has_it(loaded)) == (False, False)
    for value in (False, True):
        setattr(model, switch, value)
        model.learn(20)
        assert (getattr(model, switch), has_it(model)) == (value, value)


def test_an_attribute_counts_before_there_is_a_run_and_in_files(tmp_path) -> None:
    model = PPO2("MlpPolicy", None, _init_setup_model=False, **SMALL)
    model.ent_coef = 0.5
    model.set_env("CartPole-v1")
    model.setup_model()
    assert model.agent.plan.algorithm.config.ent_coef == 0.5
    model.gamma = 0.5
    model.save(tmp_path / "model")
    assert PPO2.load(tmp_path / "model").gamma == 0.5


def test_own_attributes_and_those_that_the_model_reads_stay_plain(tmp_path) -> None:
    model = PPO2("MlpPolicy", "CartPole-v1", **SMALL)
    agent = model.agent
    model.my_own, model.verbose, model.tensorboard_log = 3, 0, str(tmp_path)
    model.gamma = model.gamma
    model.learn(32)
    assert (model.my_own, model.agent) == (3, agent)
    assert list(tmp_path.iterdir())


def test_what_does_not_fit_is_refused_and_stays_as_it_was() -> None:
    model = PPO2("MlpPolicy", "CartPole-v1", **SMALL)
    model.gamma = 5.0
    with pytest.raises(ValueError, match=r"what gamma was set to cannot be used.*gamma"):
        model.learn(32)
    assert model.gamma == 0.99
    model.learn(32)
    with pytest.raises(ValueError, match=r"PPO2.policy_kwargs cannot be set any more"):
        model.policy_kwargs = {"net_arch": [8]}
    ddpg = DDPG("MlpPolicy", "Pendulum-v1", nb_rollout_steps=10)
    with pytest.raises(ValueError, match=r"DDPG.normalize_observations cannot be set any more"):
        ddpg.normalize_observations = True


def test_a_value_between_two_uses_of_the_agent_is_not_gone_back_to() -> None:
    model = PPO2("MlpPolicy", "CartPole-v1", gamma=0.9, **SMALL)
    model.gamma = 0.5
    model.gamma = 7.0
    with pytest.raises(ValueError, match=r"what gamma was set to cannot be used"):
        _ = model.agent
    assert model.gamma == model.agent.plan.algorithm.config.gamma == 0.9


def test_a_seed_that_is_set_is_drawn_from() -> None:
    first, second = (PPO2("MlpPolicy", "CartPole-v1", seed=0, **SMALL) for _ in range(2))
    second.seed = 7
    assert second.seed == 7
    first.learn(32), second.learn(32)
    assert any((parameters(first)[name] != one).any() for name, one in parameters(second).items())


def test_a_callback_of_sb3_may_anneal_the_coefficients_of_the_loss() -> None:
    def trained(callback: Any = None, **keywords: Any) -> dict[str, Any]:
        keywords = {"n_steps": 32, "batch_size": 32, **keywords}
        model = rlk_sb3.PPO("MlpPolicy", "CartPole-v1", seed=0, **keywords)
        return parameters(model.learn(64, callback=callback))

    plain, given, annealed = trained(), trained(ent_coef=10.0), trained(Setting(ent_coef=10.0))
    assert all(np.array_equal(given[name], annealed[name]) for name in given)
    assert any(not np.array_equal(plain[name], annealed[name]) for name in plain)


RATE, TINY = {"learning_rate": 0.0}, {"actor_lr": 1e-30, "critic_lr": 1e-30}


@pytest.mark.parametrize(
    ("kind", "env", "keywords", "rates"),
    [
        (rlk_baselines.A2C, "CartPole-v1", {}, RATE),
        (rlk_baselines.A2C, "CartPole-v1", {"lr_schedule": "linear"}, RATE),
        (rlk_baselines.ACER, "CartPole-v1", {}, RATE),
        (rlk_baselines.ACKTR, "CartPole-v1", {}, RATE),
        (
            rlk_baselines.PPO1,
            "CartPole-v1",
            {"timesteps_per_actorbatch": 64},
            {"optim_stepsize": 0},
        ),
        (rlk_baselines.PPO2, "CartPole-v1", SMALL, RATE),
        (rlk_baselines.PPO2, "CartPole-v1", SMALL, {"learning_rate": lambda remaining: 0.0}),
        (rlk_baselines.DDPG, "Pendulum-v1", {"nb_rollout_steps": 20, "nb_train_steps": 5}, TINY),
        (rlk_baselines.DQN, "CartPole-v1", OFF, RATE),
        (rlk_baselines.SAC, "Pendulum-v1", OFF, {"learning_rate": lambda remaining: 0.0}),
        (rlk_baselines.TD3, "Pendulum-v1", {**OFF, "train_freq": 10, "gradient_steps": 10}, RATE),
        (rlk_sb3.PPO, "CartPole-v1", {"n_steps": 32, "batch_size": 32}, RATE),
    ],
)
def test_a_learning_rate_that_a_callback_sets_is_that_of_the_next_update(
    kind: Any, env: str, keywords: dict[str, Any], rates: dict[str, Any], tmp_path
) -> None:
    model = kind("MlpPolicy", env, seed=0, **keywords).learn(96)
    before = parameters(model)
    model.learn(96, callback=Setting(**rates))
    after = parameters(model)
    assert all(np.allclose(after[name], before[name], 0, 1e-20) for name in before)
    assert kind is not rlk_baselines.SAC or "log_ent_coef" in before
    name, value = next(iter(rates.items()))
    assert getattr(model, name) is value
    model.save(tmp_path / "model")
    if not callable(value):
        assert getattr(kind.load(tmp_path / "model"), name) == value


def trained(callback: Any = None, **keywords: Any) -> dict[str, Any]:
    model = PPO2("MlpPolicy", "CartPole-v1", seed=0, n_cpu_tf_sess=1, **{**SMALL, **keywords})
    return parameters(model.learn(96, callback=callback))


@pytest.mark.parametrize(
    ("given", "later"),
    [
        ({}, {"cliprange": 0.01}),
        ({"cliprange_vf": 0.5}, {"cliprange_vf": 0.001}),
        ({}, {"cliprange": lambda remaining: 0.02 * remaining, "learning_rate": 0.01}),
    ],
)
def test_schedules_of_ppo2_that_a_callback_sets_are_as_if_they_had_been_given(
    given: dict[str, Any], later: dict[str, Any]
) -> None:
    as_given, as_set = trained(**{**given, **later}), trained(Setting(**later), **given)
    assert all(np.array_equal(as_given[name], as_set[name]) for name in as_given)
    assert any(not np.array_equal(one, as_set[name]) for name, one in trained(**given).items())


def test_a_rate_that_is_set_in_the_middle_continues_as_a_schedule_does() -> None:
    class Midway(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 40:
                self.model.learning_rate = lambda remaining: remaining
            rates.append(self.model.agent.run.scheduled()["train/learning_rate"])
            return True

    rates: list[float] = []
    PPO2("MlpPolicy", "CartPole-v1", learning_rate=0.5, **SMALL).learn(128, callback=Midway())
    assert rates[0] == rates[38] == 0.5
    assert np.allclose(rates[39:64], 1 - 40 / 128) and np.allclose(rates[96:], 1 - 96 / 128)


def test_what_cannot_change_during_learn_is_refused() -> None:
    model = SAC("MlpPolicy", "Pendulum-v1", **OFF)
    with pytest.raises(ValueError, match=r"SAC.train_freq cannot .* \(only learning_rate can be\)"):
        model.learn(20, callback=Setting(train_freq=3))
    assert model.train_freq == 1
    with pytest.raises(ValueError, match="learning_rate must be a finite number of at least 0"):
        model.learn(20, callback=Setting(learning_rate=-1.0))
    assert model.learning_rate == 3e-4
    for wrong in (-1, None):
        model = PPO2("MlpPolicy", "CartPole-v1", cliprange_vf=0.1, **SMALL)
        with pytest.raises(ValueError, match=r"PPO2.cliprange_vf cannot be set to (-1|None) while"):
            model.learn(32, callback=Setting(cliprange_vf=wrong))
    with pytest.raises(ValueError, match=r"PPO2.cliprange_vf cannot be set while learn is running"):
        PPO2("MlpPolicy", "CartPole-v1", **SMALL).learn(32, callback=Setting(cliprange_vf=0.1))


def test_the_noise_may_be_another_one() -> None:
    model = TD3("MlpPolicy", "Pendulum-v1", **OFF)
    for noise, names in (
        (NormalActionNoise(0.0, 0.1), ["normal-noise"]),
        (None, []),
        ("ornstein-uhlenbeck-noise", ["ornstein-uhlenbeck-noise"]),
    ):
        model.action_noise = noise
        assert [one.name for one in model.agent.plan.noises] == names


def test_a_model_that_learns_by_hindsight_continues() -> None:
    model = HER("MlpPolicy", BitFlippingEnv(3, max_steps=3), DQN, n_sampled_goal=2, **OFF)
    model.learn(30)
    model.gamma = 0.5
    model.learn(30)
    config = model.agent.plan.storages[1].config
    assert (model.agent.plan.algorithm.config.gamma, config.n_sampled_goal) == (0.5, 2)


def test_what_gail_has_learnt_of_rewards_stays() -> None:
    expert = ExpertDataset(
        traj_data={
            "obs": np.zeros((40, 4), np.float32),
            "actions": np.zeros((40, 1), np.int64),
            "rewards": np.ones(40),
            "episode_returns": np.array([40.0]),
            "episode_starts": np.arange(40) == 0,
        },
        verbose=0,
    )
    model = GAIL("MlpPolicy", "CartPole-v1", expert, timesteps_per_batch=32, g_step=1).learn(64)
    before = copy.deepcopy(model._adversary.state_dict())
    model.gamma = 0.9
    assert model.agent.plan.algorithm.config.gamma == 0.9
    after = model._adversary.state_dict()
    assert before["adam"] and same(before, after)


@pytest.mark.parametrize(("size", "kept"), [(80, 16), (24, 16), (40, 32)])
def test_acer_begins_a_replay_of_another_size(size: int, kept: int) -> None:
    model = rlk_baselines.ACER(
        "MlpPolicy", "CartPole-v1", n_steps=8, buffer_size=40, replay_start=8
    )
    model.learn(16)
    model.buffer_size = size
    model.learn(16)
    assert model.agent.run.storage.capacity == size // 8
    assert len(model.agent.run.storage) == kept  # the old one is kept if its size has not changed
