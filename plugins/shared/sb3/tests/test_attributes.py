"""Attributes of models, with the values that they have in Stable-Baselines3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlk_baselines.refusals import Refused
from rlk_sb3 import DQN, PPO, SAC, TD3
from rlk_sb3.common.buffers import ReplayBuffer
from rlk_sb3.common.utils import get_linear_fn
from rlk_sb3.common.vec_env import DummyVecEnv, VecNormalize


def test_clip_ranges_are_functions_that_are_also_numbers(tmp_path: Path) -> None:
    model: Any = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, clip_range_vf=0.3)
    assert model.clip_range(1.0) == model.clip_range == 0.2 and model.clip_range_vf(0.5) == 0.3
    model.clip_range = model.clip_range * 2
    model.learn(16).save(tmp_path / "model")
    assert PPO.load(tmp_path / "model").clip_range(0.0) == 0.4
    model.clip_range = lambda remaining: remaining
    assert model.clip_range(0.25) == 0.25
    assert PPO("MlpPolicy", "CartPole-v1").clip_range_vf is None


def test_exploration_has_a_schedule() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=64, exploration_fraction=0.5)
    found = [model.exploration_schedule(remaining) for remaining in (1.0, 0.75, 0.5, 0.0)]
    assert found == pytest.approx([1.0, 0.525, 0.05, 0.05])


def test_exploration_may_be_set_to_a_linear_schedule() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=64)
    model.exploration_schedule = get_linear_fn(0.6, 0.2, 0.5)
    (noise,) = model.agent.plan.noises
    config = noise.config
    assert (config.initial_eps, config.final_eps, config.fraction) == (0.6, 0.2, 0.5)
    assert model.exploration_schedule(0.0) == 0.2


def test_exploration_by_any_function_is_refused() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=64)
    with pytest.raises(ValueError, match=r"set it to get_linear_fn\(start.*not to <function"):
        model.exploration_schedule = lambda remaining: remaining
    assert model.exploration_schedule(1.0) == 1.0


def test_what_cannot_be_assigned_says_what_to_do() -> None:
    model, other = (SAC("MlpPolicy", "Pendulum-v1", buffer_size=300) for _ in range(2))
    with pytest.raises(Refused, match=r"replay of its own.*load_replay_buffer\(path\)"):
        model.replay_buffer = other.replay_buffer
    with pytest.raises(Refused, match="Make a new model, whose replay is empty"):
        model.replay_buffer.pos = 0


def test_an_environment_that_is_assigned_is_learnt_from(counting: Any) -> None:
    model = PPO("MlpPolicy", counting(), n_steps=8, batch_size=8)
    env = DummyVecEnv([counting])
    model.env = env
    assert model.env is env and model.learn(8).num_timesteps == 8
    with pytest.raises(ValueError, match="space"):
        model.env = "Pendulum-v1"
    assert model.env is env


def test_off_policy_models_say_what_they_were_set_up_with() -> None:
    model: Any = SAC("MlpPolicy", "Pendulum-v1", buffer_size=300, policy_kwargs={"net_arch": [4]})
    assert (model.train_freq.frequency, model.train_freq.unit.value) == (1, "step")
    assert model.target_entropy == -1.0 and float(model.log_ent_coef) == 0.0
    assert model.replay_buffer_class is ReplayBuffer and model.replay_buffer_kwargs == {}
    model.ent_coef = 0.1
    assert model.log_ent_coef is None
    model = TD3("MlpPolicy", "Pendulum-v1", buffer_size=300, train_freq=(2, "episode"))
    assert model.train_freq == (2, "episode")
    model.train_freq = model.train_freq
    assert model.agent.plan.algorithm.config.train_freq == "2 episode"


def test_attributes_that_are_not_here_say_what_to_use() -> None:
    model: Any = SAC("MlpPolicy", "Pendulum-v1", buffer_size=300, policy_kwargs={"net_arch": [4]})
    for name, instead in (
        ("reset_noise", "drawn anew every sde_sample_freq steps"),
        ("squash_output", r"policy_kwargs=dict\(squash_output=True\)"),
        ("actor", r"model\.policy\(obs, deterministic=True\)"),
    ):
        with pytest.raises(AttributeError, match=f"{name}.*: .*{instead}"):
            getattr(model.policy, name)
    for name, instead in (
        ("train", r"learn\(total_timesteps\) collects and updates in turn, with learning_starts=0"),
        ("_vec_normalize_env", r"model\.get_vec_normalize_env\(\)"),
        ("_current_progress_remaining", r"1 - model\.num_timesteps / model\._total_timesteps"),
    ):
        with pytest.raises(AttributeError, match=f"{name}.*: .*{instead}"):
            getattr(model, name)
    with pytest.raises(AttributeError, match=r"'train': learn\(total_timesteps\) .* in turn$"):
        PPO("MlpPolicy", "CartPole-v1").train()
    with pytest.raises(AttributeError, match="'reset': a replay is never emptied"):
        model.replay_buffer.reset()


def test_returns_of_vec_normalize_have_both_names(counting: Any) -> None:
    env = VecNormalize(DummyVecEnv([counting]))
    env.reset()
    env.step(env.action_space.sample()[None])
    assert env.returns is env.ret and env.returns[0] == 1.0
