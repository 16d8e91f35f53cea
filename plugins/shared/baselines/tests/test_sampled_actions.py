"""`predict(deterministic=False)` of the off-policy models, as it is documented."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlk_sb3
from rlk_baselines import DDPG, DQN, HER, SAC, TD3
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.noise import (
    ActionNoise,
    AdaptiveParamNoiseSpec,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)

CARTPOLE = np.array([0.1, -0.2, 0.03, 0.4], np.float32)
PENDULUM = np.array([1.0, 0.0, 0.5], np.float32)


def made(kind: Any, env: Any = "Pendulum-v1", **keywords: Any) -> Any:
    return kind("MlpPolicy", env, seed=0, n_cpu_tf_sess=1, **keywords)


def test_dqn_samples_by_the_softmax_of_its_values() -> None:
    model = made(DQN, "CartPole-v1")
    p = model.action_probability(CARTPOLE)[1]
    many = np.repeat(CARTPOLE[None], 4000, axis=0)
    actions, state = model.predict(many, deterministic=False)
    assert abs(actions.mean() - p) < 4 * np.sqrt(p * (1 - p) / 4000)
    assert state is None
    assert np.ndim(model.predict(CARTPOLE, deterministic=False)[0]) == 0
    assert len(set(model.predict(many)[0])) == 1, "it is deterministic unless told otherwise"


@pytest.mark.parametrize("kind", [DDPG, TD3])
def test_actions_have_noise_where_they_may_be_drawn(kind: Any) -> None:
    model = made(kind, action_noise=NormalActionNoise(0.0, 0.2))
    many = np.repeat(PENDULUM[None], 2000, axis=0)
    greedy, _ = model.predict(many)
    noisy, _ = model.predict(many, deterministic=False)
    assert noisy.shape == greedy.shape == (2000, 1)
    deviation = (noisy - greedy)[:, 0] / 2.0  # Pendulum's actions go to 2
    assert abs(deviation.mean()) < 4 * 0.2 / np.sqrt(2000)
    assert abs(deviation.std() - 0.2) < 0.02
    assert model.predict(PENDULUM, deterministic=False)[0].shape == (1,)
    np.testing.assert_allclose(model.policy_tf.step(many[:2]), greedy[:2] / 2.0, atol=1e-6)


def test_sampled_actions_stay_in_their_bounds_and_are_the_policys_without_a_noise() -> None:
    model = made(TD3, action_noise=NormalActionNoise(5.0, 0.1))
    assert model.predict(PENDULUM, deterministic=False)[0].tolist() == [2.0]
    model = made(TD3)
    drawn, chosen = model.predict(PENDULUM, deterministic=False)[0], model.predict(PENDULUM)[0]
    np.testing.assert_allclose(drawn, chosen, atol=1e-6)  # one is computed in torch


def test_a_seed_gives_the_same_actions_and_training_draws_nothing_else() -> None:
    def actions(model: Any) -> list[float]:
        return [float(model.predict(PENDULUM, deterministic=False)[0][0]) for _ in range(4)]

    off = {"learning_starts": 5, "batch_size": 8, "buffer_size": 500}
    first, second, third = (made(TD3, action_noise=NormalActionNoise(0, 0.1), **off) for _ in "123")
    assert actions(first) == actions(second)
    first.learn(120), third.learn(120)
    for name, value in first.get_parameters().items():
        np.testing.assert_array_equal(value, third.get_parameters()[name])


def test_a_process_continues_from_call_to_call_until_it_is_reset() -> None:
    noise = OrnsteinUhlenbeckActionNoise(np.array([1.0]), np.array([0.0]), theta=1.0, dt=0.5)
    model = made(DDPG, action_noise=noise)
    greedy = model.predict(PENDULUM)[0]

    def added() -> float:
        return round(float((model.predict(PENDULUM, deterministic=False)[0] - greedy)[0]) / 2, 4)

    assert [added(), added()] == [0.5, 0.75]
    model.action_noise.reset()
    assert added() == 0.5


def test_an_own_noise_is_called() -> None:
    class Half(ActionNoise):
        def __call__(self) -> Any:
            return np.array([0.5])

    model = made(TD3, action_noise=Half())
    difference = model.predict(PENDULUM, deterministic=False)[0] - model.predict(PENDULUM)[0]
    np.testing.assert_allclose(difference, [1.0], atol=1e-6)


def test_ddpg_acts_by_the_perturbed_copy_that_it_trains_with() -> None:
    model = made(DDPG, param_noise=AdaptiveParamNoiseSpec(0.5, 0.2), nb_rollout_steps=20)
    model.learn(20)
    first, second = (model.predict(PENDULUM, deterministic=False)[0] for _ in range(2))
    assert first == second
    assert first != model.predict(PENDULUM)[0]


def test_a_text_of_rlk_draws_too_where_there_is_an_object_for_it() -> None:
    model = made(TD3, action_noise="normal-noise:mean=5.0")
    assert model.action_noise.mean == 5.0
    assert model.predict(PENDULUM, deterministic=False)[0].tolist() == [2.0]


@pytest.mark.parametrize(
    ("kind", "keywords"),
    [(DQN, {}), (TD3, {"action_noise": NormalActionNoise(0.0, 0.5)}), (SAC, {})],
)
def test_a_model_of_her_samples_as_the_one_that_learns(kind: Any, keywords: Any) -> None:
    env = BitFlippingEnv(4, continuous=kind is not DQN, max_steps=4)
    model = HER("MlpPolicy", env, kind, seed=0, n_cpu_tf_sess=1, **keywords)
    observation = model.env.reset()
    actions = [model.predict(observation, deterministic=False)[0] for _ in range(30)]
    assert len(np.unique(actions, axis=0)) > 1
    greedy = [model.predict(observation)[0] for _ in range(3)]
    assert len(np.unique(greedy, axis=0)) == 1


@pytest.mark.parametrize("kind", [DQN, DDPG, SAC, TD3, rlk_sb3.SAC])
@pytest.mark.parametrize("deterministic", [True, False])
def test_no_model_acts_on_nan(kind: Any, deterministic: bool) -> None:
    env, observation = ("CartPole-v1", CARTPOLE) if kind is DQN else ("Pendulum-v1", PENDULUM)
    model, spoilt = kind("MlpPolicy", env, seed=0), observation * np.nan
    model.predict(observation, deterministic=deterministic)
    with pytest.raises(ValueError, match=r"got nan in observation\[0\] \(row 0\)"):
        model.predict(spoilt, deterministic=deterministic)
