"""`model.replay_buffer` has the methods of Stable-Baselines3's `ReplayBuffer`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_sb3 import DQN, SAC, HerReplayBuffer, replay_view
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.envs import BitFlippingEnv
from rlk_sb3.common.vec_env import DummyVecEnv, VecNormalize

SMALL: dict[str, Any] = {"buffer_size": 20, "batch_size": 4, "learning_starts": 4}


def test_its_size_counts_steps_of_all_environments() -> None:
    model = DQN("MlpPolicy", make_vec_env("CartPole-v1", n_envs=2), **SMALL)
    replay = model.replay_buffer
    assert (replay.n_envs, replay.size(), replay.full) == (2, 0, False)
    model.learn(8)
    assert (replay.size(), len(replay), replay.full) == (4, 8, False)
    model.learn(40)
    assert (replay.size(), replay.full) == (10, True)
    three = DQN("MlpPolicy", make_vec_env("CartPole-v1", n_envs=3), **SMALL).learn(18)
    assert len(three.replay_buffer) == 18 and three.replay_buffer.full, "6 for each of them"


def test_batches_are_tensors_with_a_second_axis() -> None:
    env = VecNormalize(make_vec_env("Pendulum-v1", n_envs=1))
    model = SAC("MlpPolicy", env, **SMALL).learn(8)
    batch = model.replay_buffer.sample(3, env=env)
    shapes = [tuple(getattr(batch, name).shape) for name in ("observations", "next_observations")]
    assert shapes == [(3, 3), (3, 3)]
    for name in ("actions", "rewards", "dones"):
        assert tuple(getattr(batch, name).shape) == (3, 1)
    assert (batch.dones == 0).all() and batch.rewards.dtype == batch.observations.dtype
    raw = model.replay_buffer.sample(50).observations
    assert raw[:, :2].square().sum(1).numpy() == pytest.approx(np.ones(50), abs=1e-5)


def test_a_program_adds_steps_as_a_vector_returns_them() -> None:
    env = make_vec_env("CartPole-v1", n_envs=1, seed=0)
    model = DQN("MlpPolicy", env, **SMALL)
    obs = env.reset()
    for _ in range(12):
        action = np.array([0])
        after, reward, done, infos = env.step(action)
        model.replay_buffer.add(obs, after, action, reward, done, infos)
        obs = after
    assert model.replay_buffer.size() == 12
    batch = model.replay_buffer.sample(200)
    assert (batch.actions == 0).all() and (batch.rewards == 1).all()
    assert 0 < batch.dones.sum() < 200  # the pole fell once
    model.replay_buffer.extend(
        [obs] * 2, [obs] * 2, [action] * 2, [reward] * 2, [done] * 2, [infos] * 2
    )
    assert model.replay_buffer.size() == 14


def test_its_arrays_have_the_stored_steps(counting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_view, "_CHUNK", 7)
    env = DummyVecEnv([lambda: counting(3, reward=2.0), lambda: counting(4, truncated=True)])
    model = DQN("MlpPolicy", env, **SMALL)
    replay: Any = model.replay_buffer
    assert replay.rewards.shape == (0, 2) and replay.observations.shape == (0, 2, 2)
    assert replay.pos == 0
    model.learn(16)
    assert (replay.pos, replay.rewards.shape) == (8, (8, 2))
    model.learn(8, reset_num_timesteps=False)  # 12 steps, of which 10 are kept
    assert (replay.pos, replay.full) == (2, True)
    time = np.array([10, 11, 2, 3, 4, 5, 6, 7, 8, 9])
    steps = np.stack([time % 3, time % 4], axis=1)
    ended = steps == [2, 3]
    assert replay.observations.tolist() == np.stack([steps, np.full((10, 2), 7)], 2).tolist()
    assert (replay.next_observations[..., 0] == steps + 1).all(), "the final ones, too"
    assert replay.dones.tolist() == ended.tolist()
    assert replay.timeouts.tolist() == (ended & [False, True]).tolist()
    assert replay.rewards.tolist() == [[2.0, 1.0]] * 10 and replay.actions.shape == (10, 2, 1)
    assert replay.actions.ravel().tolist() == [transition[1] for transition in replay.storage]
    with pytest.raises(ValueError, match="read-only"):
        replay.rewards[0] = 5.0
    assert replay.observation_space == env.observation_space and replay.device.type == "cpu"
    assert replay.action_space == env.action_space


def test_arrays_of_dicts_are_dicts_of_arrays() -> None:
    env = BitFlippingEnv(3, continuous=True)
    model = SAC("MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer, **SMALL).learn(8)
    replay: Any = model.replay_buffer
    assert {key: part.shape for key, part in replay.next_observations.items()} == dict.fromkeys(
        ("observation", "achieved_goal", "desired_goal"), (8, 1, 3)
    )
    assert replay.actions.shape == (8, 1, 3) and abs(replay.actions).max() <= 1.0
    with pytest.raises(AttributeError, match=r"'nonsense'$"):
        _ = replay.nonsense
