"""Models of Stable-Baselines3's names keep their arguments in files and when they are rebuilt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import pytest

from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C, DQN, PPO
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.logger import Logger
from rlk_sb3.common.monitor import Monitor
from rlk_sb3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from rlk_sb3.common.vec_env import DummyVecEnv, VecNormalize
from rlk_sb3.common.vec_env.patch_gym import _patch_env


def optimiser(model: Any) -> Any:
    return model.agent.plan.optimiser


@pytest.mark.parametrize(
    ("given", "expected"), [((2, "episode"), "2 episode"), ((3, "step"), 3), (4, 4)]
)
def test_updates_come_after_steps_or_episodes(given: Any, expected: Any) -> None:
    model = DQN("MlpPolicy", "CartPole-v1", train_freq=given)
    assert model.agent.plan.algorithm.config.train_freq == expected


def test_arguments_with_other_names_in_rlk_come_back(tmp_path: Path) -> None:
    DQN("MlpPolicy", "CartPole-v1", target_update_interval=77).save(tmp_path / "dqn")
    model = DQN.load(tmp_path / "dqn", env="CartPole-v1")
    assert model.target_update_interval == 77
    model = DQN.load(tmp_path / "dqn", env="CartPole-v1", target_update_interval=50)
    model.set_env(make_vec_env("CartPole-v1", 2))  # the agent is built again
    assert model.agent.plan.algorithm.config.target_network_update_freq == 50
    A2C("MlpPolicy", "CartPole-v1", rms_prop_eps=0.01).save(tmp_path / "a2c")
    assert A2C.load(tmp_path / "a2c").rms_prop_eps == 0.01


def test_state_dependent_exploration_comes_back(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"use_sde": True, "sde_sample_freq": 4}
    keywords["policy_kwargs"] = {"full_std": False}
    A2C("MlpPolicy", "Pendulum-v1", **keywords).save(tmp_path / "model")
    model: Any = A2C.load(tmp_path / "model")
    assert (model.use_sde, model.sde_sample_freq) == (True, 4)
    model.set_env(make_vec_env("Pendulum-v1", 2))
    assert model.learn(20).agent.plan.distribution.name == "gsde"


def test_a2c_learns_by_adam(tmp_path: Path) -> None:
    model = A2C("MlpPolicy", "CartPole-v1", use_rms_prop=False)
    assert optimiser(model).name == "adam"
    assert model.learn(20).agent.run.optimise.groups["policy"].options["eps"] == 1e-5
    model.save(tmp_path / "model")
    loaded = A2C.load(tmp_path / "model", env="CartPole-v1")
    assert loaded.use_rms_prop is False
    loaded.set_env(make_vec_env("CartPole-v1", 2))
    assert optimiser(loaded.learn(20)).name == "adam"
    for change in (
        lambda: A2C.load(tmp_path / "model", use_rms_prop=True),
        lambda: setattr(model, "use_rms_prop", True),
    ):
        with pytest.raises(ValueError, match=r"use_rms_prop is False in this model, .*make a new"):
            change()
    with pytest.warns(UserWarning, match=r"rms_prop_eps=0.1 has no effect without use_rms_prop"):
        A2C("MlpPolicy", "CartPole-v1", use_rms_prop=False, rms_prop_eps=0.1)


def test_a2c_learns_by_tensorflows_rmsprop(tmp_path: Path) -> None:
    kwargs = {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": {"eps": 1e-4}}
    model = A2C("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs).learn(20)

    def is_as_asked(one: Any) -> bool:
        chosen, options = optimiser(one), one.agent.run.optimise.groups["policy"].options
        variant = chosen.config.variant if chosen.name == "rmsprop" else None
        return variant == "tensorflow" and options["eps"] == 1e-4

    assert is_as_asked(model)
    model.rms_prop_eps = 0.5  # of the RMSProp that it does not use
    assert is_as_asked(model)
    model.save(tmp_path / "model")
    loaded = A2C.load(tmp_path / "model", env="CartPole-v1")
    assert is_as_asked(loaded)
    loaded.set_env(make_vec_env("CartPole-v1", 2))  # the agent is built again
    assert is_as_asked(loaded.learn(20))
    with pytest.raises(Refused, match="only stands for rlk's optimiser"):
        RMSpropTFLike([], lr=0.1)
    with pytest.raises(Refused, match="or A2C by RMSpropTFLike"):
        PPO("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs)


def test_a_model_of_many_environments_is_loaded_for_one(tmp_path: Path) -> None:
    eight = make_vec_env("CartPole-v1", 8)
    PPO("MlpPolicy", eight, n_steps=16, batch_size=128).save(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"16 transitions of a collection \(n_steps=16, 1 env"):
        model = PPO.load(tmp_path / "model", env=make_vec_env("CartPole-v1", 1)).learn(16)
    assert model.agent.plan.algorithm.config.batch_size == 16 and model.batch_size == 128
    model.set_env(eight)
    assert model.learn(128).agent.plan.algorithm.config.batch_size == 128


def test_a_minibatch_of_ppo_has_at_most_a_collection(tmp_path: Path) -> None:
    def batch_size(model: Any) -> int:
        return int(model.learn(16).agent.plan.algorithm.config.batch_size)

    with pytest.warns(UserWarning, match=r"batch_size=64 is more than the 16 transitions"):
        model = PPO("MlpPolicy", "CartPole-v1", n_steps=16)
    assert batch_size(model) == 16
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", 2), n_steps=64)
    assert batch_size(model) == 64
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"32 transitions of a collection \(n_steps=16, 2 env"):
        loaded = PPO.load(tmp_path / "model", env=make_vec_env("CartPole-v1", 2), n_steps=16)
    assert batch_size(loaded) == 32
    model.n_steps = 8
    with pytest.warns(UserWarning, match="16 transitions"):
        assert batch_size(model) == 16
    model.n_steps = 64
    assert batch_size(model) == 64


def small(counting: Any, **settings: Any) -> A2C:
    return A2C("MlpPolicy", counting(2), n_steps=4, policy_kwargs={"net_arch": [4]}, **settings)


@pytest.mark.parametrize("episodes", [0, -1, 0.5])
def test_a_window_of_less_than_an_episode_is_refused(counting: Any, episodes: float) -> None:
    with pytest.raises(ValueError, match=rf"(at least 1|whole number).*got {episodes}"):
        small(counting, stats_window_size=episodes)


def test_a_window_of_episodes_begins_anew_with_timesteps(counting: Any) -> None:
    assert len(small(counting, stats_window_size=3).learn(16).ep_info_buffer) == 3, "of eight"
    model = small(counting).learn(16)
    assert len(model.ep_info_buffer) == 8
    model.ep_success_buffer.append(1.0)
    model.learn(4, reset_num_timesteps=False)
    assert [*model.ep_success_buffer] == [True]
    model.learn(4)
    assert not model.ep_success_buffer


def test_a_logger_that_is_given_writes_no_events_elsewhere(counting: Any, tmp_path: Path) -> None:
    model = small(counting, tensorboard_log=str(tmp_path))
    model.set_logger(Logger(None, []))
    model.learn(4)
    assert model.tensorboard_log is None and not list(tmp_path.iterdir())


def test_attributes_may_be_set_before_the_model_is_set_up(counting: Any) -> None:
    model = small(counting, _init_setup_model=False)
    model.seed, model.policy_kwargs, model.gamma = 5, {"net_arch": [6]}, 0.5
    assert (model.seed, model.policy_kwargs, model.gamma) == (5, {"net_arch": [6]}, 0.5)
    model.setup_model()
    plan = model.agent.plan
    assert (plan.seed, plan.algorithm.config.gamma) == (5, 0.5)
    assert model.get_parameters()["policy"]["model/pi/trunk/layers/0/bias"].shape == (6,)


@pytest.mark.parametrize("wrap", [DummyVecEnv, lambda makes: VecNormalize(DummyVecEnv(makes))])
def test_episodes_have_the_info_keywords_of_their_monitors(
    counting: Any, wrap: Any, tmp_path: Path
) -> None:
    class Numbered(gymnasium.Wrapper[Any, Any, Any, Any]):
        episode = 0

        def step(self, action: Any) -> Any:
            *found, info = self.env.step(action)
            self.episode += found[2] or found[3]
            return *found, {**info, "number": self.episode}

    def make(length: int) -> Any:
        return lambda: Monitor(Numbered(_patch_env(counting(length))), info_keywords=("number",))

    vector = wrap([make(2), make(4)])
    settings = {"n_steps": 4, "policy_kwargs": {"net_arch": [4]}, "stats_window_size": 4}
    model: Any = A2C("MlpPolicy", vector, **settings).learn(16)
    found = model.ep_info_buffer
    assert [(one["l"], one["number"]) for one in found] == [(4, 1), (2, 3), (2, 4), (4, 2)]
    assert found[0].keys() == {"r", "l", "t", "number"}
    model.learn(8)
    assert [one["number"] for one in model.ep_info_buffer] == [5, 6, 3]
    model.save(tmp_path / "model")
    loaded = A2C.load(tmp_path / "model", env=wrap([make(2), make(4)]))
    assert [one.keys() for one in loaded.ep_info_buffer] == [{"r", "l"}] * 3, "as files have them"
    loaded.learn(4, reset_num_timesteps=False)
    assert [one.get("number") for one in loaded.ep_info_buffer] == [None, 1, 2, 1]
