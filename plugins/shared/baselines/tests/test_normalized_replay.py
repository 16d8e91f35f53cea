"""Off-policy models in a `VecNormalize`: what their replay stores, and what they learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_baselines import DQN
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnv, VecNormalize


def made(env: VecEnv, **keywords: Any) -> DQN:
    return DQN("MlpPolicy", env, learning_starts=4, batch_size=4, seed=0, **keywords)


def test_originals_are_kept_and_what_is_sampled_is_normalised(counting) -> None:
    env = VecNormalize(DummyVecEnv([lambda: counting(3, reward=5.0)]))
    model = made(env).learn(7)
    before, _, rewards, after, _ = model.replay_buffer.sample(64)
    assert set(rewards.tolist()) == {5.0}
    pairs = set(zip(before[:, 0].tolist(), after[:, 0].tolist(), strict=True))
    assert pairs == {(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)}
    batch = model.agent.run.storage.sample(64)
    assert np.allclose(batch.reward, env.normalize_reward(np.full(64, 5.0)))
    shown = {step: env.normalize_obs(np.array([[step, 7.0]]))[0, 0] for step in range(4)}
    steps = zip(
        batch.observation[:, 0].tolist(), batch.next_observation[:, 0].tolist(), strict=True
    )
    found = {(round(one, 5), round(next_one, 5)) for one, next_one in steps}
    assert found == {(round(float(shown[a]), 5), round(float(shown[b]), 5)) for a, b in pairs}


def vector(counting: Any, n_envs: int, reward: float) -> VecEnv:
    return DummyVecEnv([lambda: counting(3, reward=reward)] * n_envs)


@pytest.mark.parametrize("n_envs", [1, 2])
@pytest.mark.parametrize(("was", "is_now"), [(True, True), (True, False), (False, True)])
def test_another_environment_is_kept_as_it_is(counting, n_envs, was, is_now) -> None:
    first, second = vector(counting, n_envs, 5.0), vector(counting, n_envs, -9.0)
    model = made(VecNormalize(first) if was else first).learn(20)
    parameters = model.get_parameters()
    model.set_env(VecNormalize(second) if is_now else second)
    for name, value in model.get_parameters().items():
        assert np.array_equal(value, parameters[name])
    model.learn(20, reset_num_timesteps=False)
    before, _, rewards, *_ = model.replay_buffer.sample(400)
    assert set(rewards.tolist()) == {5.0, -9.0} and set(before[:, 0].tolist()) == {0.0, 1.0, 2.0}
    assert len(model.replay_buffer) == model.num_timesteps == 40
    largest = float(model.agent.run.storage.sample(400).reward.abs().max())
    assert largest == 9.0 if not is_now else largest != 9.0


def test_a_model_without_an_environment_keeps_originals_of_the_one_it_is_given(
    counting, tmp_path
) -> None:
    made(vector(counting, 1, 5.0)).save(tmp_path / "model")
    model = DQN.load(tmp_path / "model")
    model.set_env(VecNormalize(vector(counting, 1, 5.0)))
    model.learn(9)
    assert set(model.replay_buffer.sample(64)[2].tolist()) == {5.0}


@pytest.mark.parametrize("n_envs", [1, 2])
def test_what_needs_another_agent_is_not_set_during_learn(counting, n_envs) -> None:
    class Sets(BaseCallback):
        def _on_step(self) -> bool:
            self.model.set_env(VecNormalize(vector(counting, n_envs, 5.0)))
            return True

    model = made(vector(counting, 1, 5.0))
    with pytest.raises(ValueError, match="between two calls of learn"):
        model.learn(9, callback=Sets())
