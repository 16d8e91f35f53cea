from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_baselines import A2C, ACER, DDPG, DQN, HER, PPO2, SAC, TD3, TRPO
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.distributions import CategoricalProbabilityDistributionType
from rlk_baselines.common.math_util import unscale_action

OBSERVATION = np.array([[0.1, -0.2, 0.03, 0.4], [0.0, 0.3, -0.1, -0.2]], np.float32)
PENDULUM = np.array([[1.0, 0.0, 0.5], [-1.0, 0.0, -2.0], [0.0, 1.0, 0.0]], np.float32)


def made(model: Any, env: Any = "CartPole-v1", policy: str = "MlpPolicy", **keywords: Any) -> Any:
    return model(policy, env, seed=0, n_cpu_tf_sess=1, **keywords)


def test_a_step_of_an_actor_critic_is_what_its_network_gives() -> None:
    model = made(PPO2, n_steps=8, nminibatches=1)
    actions, values, states, neglogp = model.act_model.step(OBSERVATION, deterministic=True)
    policy = model.agent.run.policy
    with torch.no_grad():
        logits, value = policy(torch.from_numpy(OBSERVATION), "pi", "vf")
    assert actions.tolist() == logits.argmax(1).tolist()
    np.testing.assert_array_equal(values, value[:, 0].numpy())
    assert states is None
    np.testing.assert_allclose(neglogp, -logits.log_softmax(1).amax(1).numpy(), rtol=1e-6)
    np.testing.assert_array_equal(model.value(OBSERVATION), values)
    np.testing.assert_allclose(model.proba_step(OBSERVATION), logits.softmax(1).numpy(), rtol=1e-6)


def test_samples_come_as_often_as_they_are_likely_and_with_their_neglogp() -> None:
    model = made(A2C)
    with torch.no_grad():
        model.agent.run.policy.pi.out.bias += torch.tensor([0.0, 1.0])
    likely = model.proba_step(OBSERVATION[:1])[0]
    many = np.repeat(OBSERVATION[:1], 4000, axis=0)
    actions, _, _, neglogp = model.step(many)
    assert abs(actions.mean() - likely[1]) < 4 * np.sqrt(likely[0] * likely[1] / 4000)
    np.testing.assert_allclose(neglogp, -np.log(likely)[actions], rtol=1e-5)


def test_neglogp_is_of_the_action_before_it_is_clipped() -> None:
    model = made(TRPO, "Pendulum-v1")
    with torch.no_grad():
        model.agent.run.policy.pi.out.mean.bias += 5.0
    actions, _, _, neglogp = model.policy_pi.step(PENDULUM, deterministic=True)
    assert (actions == 2.0).all(), "Pendulum's actions are clipped to 2"
    np.testing.assert_allclose(neglogp, 0.5 * np.log(2 * np.pi), rtol=1e-5)  # the mode, std 1


def test_the_value_of_acer_is_the_mean_of_its_q_values() -> None:
    model = made(ACER)
    policy = model.agent.run.policy
    with torch.no_grad():
        logits, q = policy(torch.from_numpy(OBSERVATION), "pi", "qf")
    expected = (logits.softmax(1) * q).sum(1).numpy()
    np.testing.assert_allclose(model.step_model.value(OBSERVATION), expected, rtol=1e-6)


def test_a_recurrent_policy_continues_from_the_state_that_it_gave() -> None:
    model = made(A2C, make_vec_env("CartPole-v1", n_envs=2), "MlpLstmPolicy")
    assert model.act_model.recurrent
    assert model.initial_state.shape == (2, 512)
    assert not model.initial_state.any()
    _, first, state, _ = model.step(OBSERVATION, model.initial_state, [False, False], True)
    _, again, after, _ = model.step(OBSERVATION, state, [False, True], True)
    assert first[0] != again[0], "the first environment remembers"
    assert first[1] == again[1], "the second has begun anew"
    _, carry = model.predict(OBSERVATION, state, [False, True], deterministic=True)
    np.testing.assert_array_equal(after, carry)
    np.testing.assert_array_equal(model.value(OBSERVATION, state, [False, True]), again)
    with pytest.raises(ValueError, match=r"with n_envs=2 the state is \[2, 512\], got \[3, 512\]"):
        model.step(OBSERVATION, np.zeros((3, 512)))
    with pytest.raises(ValueError, match=r"mask has one value for each observation: 2 .*, got 1"):
        model.step(OBSERVATION, state, [True])


def test_a_step_of_dqn_has_its_q_values() -> None:
    model = made(DQN)
    actions, q, states = model.step_model.step(OBSERVATION)
    with torch.no_grad():
        (expected,) = model.agent.run.policy(torch.from_numpy(OBSERVATION), "qf")
    np.testing.assert_array_equal(q, expected.numpy())
    assert actions.tolist() == q.argmax(1).tolist()
    assert states is None
    likely = model.step_model.proba_step(OBSERVATION)
    np.testing.assert_allclose(likely, expected.softmax(1).numpy(), rtol=1e-6)
    many = np.repeat(OBSERVATION[:1], 4000, axis=0)
    sampled, _, _ = model.step_model.step(many, deterministic=False)
    p = likely[0, 1]
    assert abs(sampled.mean() - p) < 4 * np.sqrt(p * (1 - p) / 4000)


@pytest.mark.parametrize("kind", [DDPG, SAC, TD3])
def test_continuous_steps_are_scaled(kind: Any) -> None:
    model = made(kind, "Pendulum-v1")
    actions = model.policy_tf.step(PENDULUM, deterministic=True)
    assert (np.abs(actions) <= 1.0).all()
    expected, _ = model.predict(PENDULUM, deterministic=True)
    np.testing.assert_allclose(unscale_action(model.action_space, actions), expected, atol=1e-6)
    assert model.policy_tf.step(PENDULUM[0]).shape == (1, 1), "one is a batch of one"


def test_sac_gives_its_gaussian_before_the_tanh_and_td3_its_action() -> None:
    sac, td3 = made(SAC, "Pendulum-v1").policy_tf, made(TD3, "Pendulum-v1").policy_tf
    mean, deviation = sac.proba_step(PENDULUM)
    np.testing.assert_allclose(np.tanh(mean), sac.step(PENDULUM, deterministic=True), atol=1e-6)
    with torch.no_grad():
        (parameters,) = sac._model.agent.run.policy(torch.from_numpy(PENDULUM), "pi")
    np.testing.assert_allclose(deviation, parameters[:, 1:].exp().numpy(), rtol=1e-6)
    np.testing.assert_array_equal(td3.proba_step(PENDULUM), td3.step(PENDULUM))


def test_the_value_of_ddpg_is_its_critics() -> None:
    model = made(DDPG, "Pendulum-v1", normalize_returns=True, return_range=(-1e3, 1e3))
    model.agent.run.algorithm.scale.moments[:] = torch.tensor([100.0, -700.0, 5000.0])
    policy, action = model.agent.run.policy, np.full((3, 1), 0.5, np.float32)
    with torch.no_grad():
        q = policy.qf(policy.encode(torch.from_numpy(PENDULUM)), torch.from_numpy(action))
        expected = model.agent.run.algorithm.scale.value(q).numpy()
    assert not np.allclose(expected, q.numpy())
    np.testing.assert_array_equal(model.policy_tf.value(PENDULUM, action), expected)


def test_a_model_of_her_steps_as_the_one_that_learns() -> None:
    model = HER("MlpPolicy", BitFlippingEnv(4), DQN, seed=0, n_cpu_tf_sess=1)
    observation = {key: np.stack([value] * 3) for key, value in model.env.reset().items()}
    actions, q, _ = model.model.step_model.step(observation)
    seen = {key: torch.from_numpy(value) for key, value in observation.items()}
    with torch.no_grad():
        (expected,) = model.model.agent.run.policy(seen, "qf")
    np.testing.assert_array_equal(q, expected.numpy())
    assert actions.tolist() == q.argmax(1).tolist()


def test_steps_have_the_documented_signatures() -> None:
    on_policy, off_policy = made(A2C).act_model, made(DQN).step_model
    asked = "(obs: 'Any', state: 'Any' = None, mask: 'Any' = None"
    assert str(inspect.signature(on_policy.step)).startswith(
        f"{asked}, deterministic: 'bool' = False)"
    )
    assert str(inspect.signature(off_policy.step)).startswith(
        f"{asked}, deterministic: 'bool' = True)"
    )
    for method in (on_policy.value, on_policy.proba_step, off_policy.proba_step):
        assert str(inspect.signature(method)).startswith(f"{asked})")
    assert on_policy.is_discrete
    assert on_policy.initial_state is None
    assert (on_policy.ob_space, on_policy.ac_space.n) == (off_policy.ob_space, 2)


def test_policies_say_how_many_observations_they_have_and_what_their_actions_are_like() -> None:
    model = made(A2C, make_vec_env("CartPole-v1", n_envs=2))
    policy = model.act_model
    assert (policy.n_env, policy.n_steps, policy.n_batch) == (2, 1, 2)
    assert isinstance(policy.pdtype, CategoricalProbabilityDistributionType)
    assert made(PPO2, "Pendulum-v1").act_model.pdtype.param_shape() == [2]
    assert made(DQN).step_model.n_batch == 1


@pytest.mark.parametrize(
    ("kind", "name", "instead"),
    [
        (A2C, "neglogp", r"step\(obs\), which gives actions, values, … and neglogp"),
        (A2C, "value_fn", r"value\(obs\)"),
        (A2C, "policy", "model.agent.run.policy, the torch module"),
        (DQN, "q_values", r"step\(obs\), which gives actions and Q values"),
        (SAC, "make_actor", "model.agent.run.policy.pi"),
        (SAC, "make_critics", "model.agent.run.policy.qf"),
        (DDPG, "make_critic", "model.agent.run.policy.qf"),
        (TD3, "obs_ph", "which takes arrays"),
    ],
)
def test_tensors_of_a_graph_say_what_to_write_instead(kind: Any, name: str, instead: str) -> None:
    model = made(kind, "Pendulum-v1" if kind in (DDPG, SAC, TD3) else "CartPole-v1")
    policy = model.act_model if kind is A2C else model.step_model
    with pytest.raises(AttributeError, match=f"no attribute {name!r}.*Write .*{instead}"):
        getattr(policy, name)
    assert not hasattr(policy, "anything")


def test_actions_of_dqn_begin_with_the_first_of_their_space() -> None:
    env: Any = make_vec_env("CartPole-v1").envs[0]
    env.action_space = spaces.Discrete(2, start=3)
    model = made(DQN, env, buffer_size=50)
    actions, q, _ = model.step_model.step(OBSERVATION)
    assert actions.tolist() == (3 + q.argmax(1)).tolist()
    many = np.repeat(OBSERVATION[:1], 200, 0)
    assert {*model.predict(many, deterministic=False)[0].tolist()} == {3, 4}
