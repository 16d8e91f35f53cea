"""The models of sb3-contrib that rlk's plugins implement."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from rlk_baselines.refusals import Refused
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.vec_env import DummyVecEnv, VecNormalize
from rlk_sb3_contrib import MaskablePPO, RecurrentPPO
from rlk_sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from rlk_sb3_contrib.common.maskable.evaluation import evaluate_policy
from rlk_sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from rlk_sb3_contrib.common.maskable.utils import (
    get_action_masks,
    is_masking_supported,
)
from rlk_sb3_contrib.common.wrappers import ActionMasker
from rlk_sb3_contrib.ppo_recurrent import MlpLstmPolicy
from rlk_toy_environments.identity import IdentityEnv, IdentityEnvBox
from rlk_toy_environments.masked_identity import MaskedIdentityEnv

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1, "seed": 0}


def masked() -> Any:
    """Raises an error for forbidden actions."""
    return MaskedIdentityEnv(space=spaces.Discrete(5), ep_length=8)


def even(env: Any) -> Any:
    return np.array([True, False, True])


def of_three() -> Any:
    return ActionMasker(IdentityEnvBoxes(), even)


class IdentityEnvBoxes(IdentityEnvBox):
    """Observes a number, and takes one of three actions."""

    def __init__(self) -> None:
        super().__init__(ep_length=4)
        self.action_space = spaces.Discrete(3)


def test_a_model_with_masks_goes_on_in_more_environments() -> None:
    model = MaskablePPO("MlpPolicy", DummyVecEnv([masked]), **SMALL)
    model.learn(16)
    model.set_env(DummyVecEnv([masked] * 2))
    assert model.learn(32).num_timesteps == 32


def test_parameters_are_those_of_there() -> None:
    of_masks = inspect.signature(MaskablePPO).parameters
    assert [*of_masks][2:5] == ["learning_rate", "n_steps", "batch_size"]
    assert "use_sde" not in of_masks and of_masks["n_steps"].default == 2048
    of_lstm = inspect.signature(RecurrentPPO).parameters
    assert [of_lstm[name].default for name in ("n_steps", "batch_size")] == [128, 128]
    assert "rollout_buffer_class" not in of_lstm and "use_sde" in of_lstm
    for name in ("ARS", "CrossQ", "QRDQN", "TQC"):
        with pytest.raises(ImportError, match=f"has no {name}. Write "):
            exec(f"from rlk_sb3_contrib import {name}")


@pytest.mark.parametrize(("model", "kind"), [("mask", "maskable"), ("recurrent", "recurrent")])
def test_policies_are_found_beside_their_model_and_by_kind(model: str, kind: str) -> None:
    beside, by_kind = (
        importlib.import_module(f"rlk_sb3_contrib.{place}.policies")
        for place in (f"ppo_{model}", f"common.{kind}")
    )
    assert len(by_kind.__all__) == 3
    for name in by_kind.__all__:
        assert getattr(by_kind, name) is getattr(beside, name)


def test_a_masked_model_learns_acts_and_is_loaded(tmp_path: Any) -> None:
    env = masked()
    seen = MaskableEvalCallback(masked(), eval_freq=16, n_eval_episodes=2, verbose=0)
    model = MaskablePPO(MaskableActorCriticPolicy, env, **SMALL)
    model.learn(32, seen, use_masking=True, progress_bar=False)
    assert model.num_timesteps == 32 and seen.last_mean_reward >= 0
    assert model.observation_space == spaces.Discrete(5)
    masks = np.eye(5, dtype=bool)
    assert [int(model.predict(2, action_masks=one)[0]) for one in masks] == [*range(5)]
    actions, _ = model.predict(np.arange(5), action_masks=masks[::-1])
    assert actions.tolist() == [4, 3, 2, 1, 0]
    assert len({int(model.predict(2)[0]) for _ in range(60)}) == 5, "None allows everything"
    with pytest.raises(ValueError, match=r"\[1, 5\] here, got \[2, 5\]"):
        model.predict(2, action_masks=masks[:2])
    model.save(tmp_path / "model")
    loaded = MaskablePPO.load(tmp_path / "model")
    greedy = loaded.predict(np.arange(5), deterministic=True)[0].tolist()
    assert model.predict(np.arange(5), deterministic=True)[0].tolist() == greedy
    assert MaskablePPO.load(tmp_path / "model", env=env).learn(16).num_timesteps == 16
    with pytest.raises(ValueError, match="Without them write PPO"):
        model.learn(16, use_masking=False)


def test_the_methods_of_a_masked_policy_take_observations_and_masks() -> None:
    model = MaskablePPO("MlpPolicy", masked(), **SMALL)
    policy, masks = model.policy, np.eye(5, dtype=bool)[:2]
    obs, is_batch = policy.obs_to_tensor(np.array([3, 1]))
    assert is_batch and obs.tolist() == [3, 1]
    for given in (masks, torch.from_numpy(masks), masks.astype(np.float32).tolist()):
        probs = policy.get_distribution(obs, action_masks=given).distribution.probs
        np.testing.assert_allclose(probs.detach(), masks, atol=1e-6)
    actions, values, log_prob = policy(obs, action_masks=masks)
    assert actions.tolist() == [0, 1] and log_prob.tolist() == [0.0, 0.0]
    assert torch.equal(policy.predict_values(obs), values)
    judged = policy.evaluate_actions(obs, torch.tensor([0, 1]), action_masks=masks)
    assert torch.equal(judged[0], values) and judged[2].tolist() == [0.0, 0.0]
    free = policy.get_distribution(obs).distribution.probs
    assert (free > 0).all(), "None allows everything"
    both = {"observation": obs, "action_mask": torch.ones(2, 5)}
    assert torch.equal(policy.get_distribution(both).distribution.probs, free)
    one = policy.get_distribution(both, action_masks=masks).distribution.probs
    np.testing.assert_allclose(one.detach(), masks, atol=1e-6)
    with pytest.raises(ValueError, match=r"\[2, 5\] here, got \[5\]"):
        policy.get_distribution(obs, action_masks=masks[0])
    with pytest.raises(Refused, match=r"argument action_masks is float64 \[\[0.5.*not booleans"):
        model.predict(np.array([3, 1]), action_masks=np.full((2, 5), 0.5))


def test_a_vector_in_wrappers_is_asked_for_its_masks() -> None:
    env = VecNormalize(make_vec_env(of_three, n_envs=2))
    assert get_action_masks(env).tolist() == [[True, False, True]] * 2
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, **SMALL)
    model.gamma = 0.5
    model.learn(32)
    observations = env.reset()
    for _ in range(20):
        actions, _ = model.predict(observations, action_masks=get_action_masks(env))
        assert {*actions.tolist()} <= {0, 2}
    returns, lengths = evaluate_policy(model, env, 4, return_episode_rewards=True)
    assert len(returns) == 4 and lengths == [4] * 4


def test_masks_by_the_name_of_a_method() -> None:
    class Saying(IdentityEnvBoxes):
        def allowed(self) -> Any:
            return [False, True, False]

    env = ActionMasker(TimeLimit(Saying(), 3), "allowed")
    assert get_action_masks(env).tolist() == [False, True, False] and is_masking_supported(env)
    with pytest.raises(ValueError, match="no method 'forbidden'"):
        ActionMasker(Saying(), "forbidden")
    bare = DummyVecEnv([IdentityEnvBoxes])
    assert not is_masking_supported(bare) and not is_masking_supported(IdentityEnvBoxes())
    model = MaskablePPO("MlpPolicy", env, **SMALL)
    with pytest.raises(ValueError, match="ActionMasker"):
        evaluate_policy(model, bare, 1)
    assert evaluate_policy(model, bare, 1, use_masking=False)


@pytest.mark.parametrize("policy", ["MlpLstmPolicy", MlpLstmPolicy])
def test_a_recurrent_model_learns_acts_and_is_loaded(tmp_path: Any, policy: Any) -> None:
    env = make_vec_env(IdentityEnv, n_envs=2, env_kwargs={"dim": 3, "ep_length": 5})
    kwargs = {"lstm_hidden_size": 8, "net_arch": {"pi": [6], "vf": [7]}}
    model = RecurrentPPO(policy, env, policy_kwargs=kwargs, **SMALL).learn(32)
    config = model.agent.plan.policy.config
    assert config.n_lstm == 8 and config.net_arch == ["lstm", {"pi": [6], "vf": [7]}]
    observations, states = env.reset(), None
    starts = np.ones(2, bool)
    for _ in range(3):
        actions, states = model.predict(
            observations, state=states, episode_start=starts, deterministic=True
        )
        observations, _, starts, _ = env.step(actions)
    model.save(tmp_path / "model")
    again = RecurrentPPO.load(tmp_path / "model")
    found = [one.predict(observations, states, starts, True) for one in (model, again)]
    assert found[0][0].tolist() == found[1][0].tolist()
    np.testing.assert_array_equal(found[0][1], found[1][1])


def lstm_of(**policy_kwargs: Any) -> Any:
    """The settings of the policy of a recurrent model."""
    env = IdentityEnvBox()
    model = RecurrentPPO("MlpLstmPolicy", env, policy_kwargs=policy_kwargs, use_sde=True)
    return model.agent.plan.policy.config


def test_the_value_function_of_a_recurrent_model_has_an_lstm_of_its_own() -> None:
    config = lstm_of(lstm_kwargs={})
    assert (config.n_lstm, config.n_lstm_layers, config.act_fun) == (256, 1, "tanh")
    assert config.net_arch == ["lstm", {"pi": [64, 64], "vf": [64, 64]}]
    assert config.value_lstm == "own"
    assert lstm_of(n_lstm_layers=2).n_lstm_layers == 2


def test_the_lstm_of_a_recurrent_model_is_shared_or_of_the_policy_alone_as_it_is_asked() -> None:
    assert lstm_of(shared_lstm=True, enable_critic_lstm=False).value_lstm == "shared"
    assert lstm_of(enable_critic_lstm=False).value_lstm == "none"
    with pytest.raises(Refused, match="Add enable_critic_lstm=False"):
        lstm_of(shared_lstm=True)
    with pytest.raises(Refused, match="lstm_kwargs"):
        lstm_of(lstm_kwargs={"dropout": 0.1})


def test_environments_without_masks_are_refused_as_the_model_is_made() -> None:
    with pytest.raises(Refused, match=r"environment 0 .* has no method action_masks\(\).*Masker"):
        MaskablePPO("MlpPolicy", "CartPole-v1")


def test_an_evaluation_with_masks_tells_its_callback_and_keeps_its_threshold() -> None:
    seen: list[bool] = []
    model = MaskablePPO("MlpPolicy", DummyVecEnv([masked]), **SMALL)

    def callback(local: dict[str, Any], _: Any) -> None:
        seen.append(bool(local["done"]))

    asked: dict[str, Any] = {"n_eval_episodes": 2, "callback": callback, "warn": False}
    evaluate_policy(model, masked(), **asked)
    assert seen == [*[False] * 7, True] * 2
    with pytest.raises(AssertionError, match="Mean reward below threshold"):
        evaluate_policy(model, masked(), **asked, reward_threshold=9)
