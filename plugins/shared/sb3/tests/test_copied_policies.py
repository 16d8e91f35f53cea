"""Copies of policies, the names of their parameters, and models, which are not copied."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from rlk_baselines import PPO2
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3_contrib import TRPO, RecurrentPPO

CONTINUOUS = (DDPG, SAC, TD3)


def made(cls: Any, **keywords: Any) -> Any:
    policy = "MlpLstmPolicy" if cls is RecurrentPPO else "MlpPolicy"
    env = "Pendulum-v1" if cls in CONTINUOUS or keywords else "CartPole-v1"
    return cls(policy, env, seed=3, policy_kwargs={"net_arch": [8]}, **keywords)


def observations(model: Any) -> Any:
    model.observation_space.seed(0)
    return np.stack([model.observation_space.sample() for _ in range(40)])


MODELS = [
    *((cls, {}) for cls in (A2C, DDPG, DQN, PPO, SAC, TD3, TRPO, RecurrentPPO)),
    *((cls, {"use_sde": True}) for cls in (PPO, SAC)),
]


@pytest.mark.parametrize(("cls", "keywords"), MODELS)
def test_a_copy_of_a_policy_goes_on_to_act_as_it_was(cls: Any, keywords: Any) -> None:
    model = made(cls, **keywords)
    obs, frozen = observations(model), copy.deepcopy(model.policy)
    before = model.policy.predict(obs, deterministic=True)[0]
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=rng))
    for one in (frozen, copy.deepcopy(frozen)):
        assert np.allclose(one.predict(obs, deterministic=True)[0], before, atol=1e-5)
    assert not np.array_equal(model.policy.predict(obs, deterministic=True)[0], before)
    action, state = frozen.predict(obs[0])
    assert model.action_space.contains(action)
    assert model.action_space.contains(frozen.predict(obs[1], state)[0])
    frozen.load_state_dict(model.policy.state_dict())  # the opponent of the next generation
    now = [one.predict(obs, deterministic=True)[0] for one in (frozen, model)]
    assert np.allclose(*now, atol=1e-5)


def test_a_copy_of_a_policy_has_the_methods_of_the_policy() -> None:
    model = made(PPO)
    obs, frozen = observations(model), copy.deepcopy(model.policy)
    expected = model.policy.predict_values(obs)
    with torch.no_grad():
        model.policy.vf.out.bias.add_(1.0)
    assert torch.equal(frozen.predict_values(obs), expected)
    assert frozen.obs_to_tensor(obs)[1] and not frozen.set_training_mode(False)
    with pytest.raises(ValueError, match="observation"):
        frozen.predict(np.zeros(3))


@pytest.mark.parametrize("cls", [PPO, DQN, SAC, TD3])
def test_parameters_of_a_model_are_loaded_by_the_policy_of_another(cls: Any) -> None:
    model, other = made(cls), made(cls)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(0.3)
    given = {name: value + 0.1 for name, value in model.get_parameters()["policy"].items()}
    loaded = other.policy.load_state_dict(given)
    assert not loaded.missing_keys and not loaded.unexpected_keys
    found = other.get_parameters()["policy"]
    assert all(torch.equal(found[name], value) for name, value in given.items())
    frozen = copy.deepcopy(other.policy)
    frozen.load_state_dict(model.get_parameters()["policy"])
    pairs = zip(frozen.parameters(), model.policy.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert torch.equal(other.get_parameters()["policy"][name_of(given)], given[name_of(given)])
    with pytest.raises(RuntimeError, match="no parameters"):
        other.policy.load_state_dict({**given, "target/nothing": torch.zeros(1)})
    with pytest.raises(RuntimeError, match="Missing key"):
        other.policy.load_state_dict({name_of(given): given[name_of(given)]})


def name_of(given: Any) -> str:
    """A name of a parameter of the policy."""
    return next(name for name in given if name.startswith("model/"))


@pytest.mark.parametrize("cls", [PPO, DQN, SAC, TD3])
def test_the_state_of_a_policy_is_set_as_parameters(cls: Any) -> None:
    model, other = made(cls), made(cls)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(0.3)
    other.set_parameters({"policy": model.policy.state_dict()}, exact_match=cls is PPO)
    obs = observations(model)
    expected = model.predict(obs, deterministic=True)[0]
    assert np.array_equal(other.predict(obs, deterministic=True)[0], expected)
    if cls is not PPO:
        with pytest.raises(RuntimeError, match=r"missing \['.*target/.*exact_match=False"):
            other.set_parameters({"policy": model.policy.state_dict()})


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, pickle.dumps])
def test_a_model_that_is_copied_says_how_it_is_saved(copied: Any) -> None:
    for model in (made(PPO), PPO2("MlpPolicy", "CartPole-v1")):
        name = type(model).__name__
        with pytest.raises(TypeError, match=rf"a {name} can be .*model\.save.*{name}\.load"):
            copied(model)
