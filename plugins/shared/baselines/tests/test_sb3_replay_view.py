"""`model.replay_buffer` has the methods of Stable-Baselines3's `ReplayBuffer`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_baselines.sb3 import DQN, SAC
from rlk_baselines.sb3.common.env_util import make_vec_env
from rlk_baselines.sb3.common.vec_env import VecNormalize

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


def test_arrays_that_it_has_not_say_what_has_the_transitions() -> None:
    replay: Any = DQN("MlpPolicy", "CartPole-v1", **SMALL).replay_buffer
    with pytest.raises(AttributeError, match=r"'rewards': storage is a list.*sample\(n\)"):
        _ = replay.rewards
    with pytest.raises(AttributeError, match=r"'nonsense'$"):
        _ = replay.nonsense
