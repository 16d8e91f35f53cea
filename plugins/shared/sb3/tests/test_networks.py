"""Q functions of models by Stable-Baselines3's names: `q_net` of DQN, `critic` of the others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_sb3 import DDPG, DQN, PPO, SAC, TD3
from rlk_sb3.common.envs import IdentityEnvBox, SimpleMultiObsEnv

SMALL: dict[str, Any] = {"buffer_size": 300, "policy_kwargs": {"net_arch": [4]}, "seed": 0}


def test_dqn_has_its_q_values() -> None:
    model: Any = DQN("MlpPolicy", "CartPole-v1", **SMALL)
    seen = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    values = model.q_net(torch.as_tensor(seen))
    state = model.policy.state_dict()
    layer, bias = (state[f"qf.trunk.layers.0.{name}"] for name in ("weight", "bias"))
    hidden = torch.relu(torch.as_tensor(seen) @ layer + bias)
    assert values.detach().numpy() == pytest.approx(
        (hidden @ state["qf.out.weight"] + state["qf.out.bias"]).numpy(), abs=1e-5
    )
    assert values.argmax(1).tolist() == model.predict(seen, deterministic=True)[0].tolist()
    values.sum().backward()
    assert model.policy.qf.out.weight.grad is not None
    copied = copy.deepcopy(model.policy)
    with torch.no_grad():
        copied.qf.out.bias.add_(1.0)
    assert torch.allclose(copied.q_net(seen), values + 1)
    with pytest.raises(ValueError, match=r"are a tensor \[B, 4\]"):
        model.policy.q_net(torch.zeros(4))


def test_q_values_of_a_dict() -> None:
    env = SimpleMultiObsEnv(channel_last=False)
    model: Any = DQN("MultiInputPolicy", env, buffer_size=50, seed=0)
    tensors, _ = model.policy.obs_to_tensor(env.reset()[0])
    assert model.q_net(tensors).shape == (1, env.action_space.n)


@pytest.mark.parametrize("kind", [SAC, TD3, DDPG])
def test_the_others_have_the_q_values_of_an_action(kind: Any) -> None:
    two = {**SMALL, "policy_kwargs": {"net_arch": [4], "n_critics": 2}}
    model = kind("MlpPolicy", IdentityEnvBox(), **two)
    seen, action = torch.tensor([[0.1], [0.5], [0.9]]), torch.tensor([[0.7], [0.2], [0.4]])
    action.requires_grad_()
    found = model.critic(seen, action)
    assert [q.shape for q in found] == [(3, 1), (3, 1)] and (found[0] != found[1]).all()
    parts = model.policy.state_dict()
    for number, q in enumerate(found):
        x = torch.cat([seen, action], 1)
        x = x @ parts["qf.trunk.weights.0"][number] + parts["qf.trunk.biases.0"][number]
        expected = x.relu() @ parts["qf.weight"][number].T + parts["qf.bias"][number]
        assert torch.allclose(q, expected, atol=1e-5)
    found[0].sum().backward()
    assert action.grad is not None and action.grad.shape == (3, 1)
    assert torch.equal(model.policy.critic(seen.numpy(), action.tolist())[1], found[1])
    assert torch.equal(model.critic.q1_forward(seen, action), found[0])
    with pytest.raises(AttributeError, match=r"critic has no 'qf0'.*print\(model.policy\)"):
        _ = model.critic.qf0


def test_the_one_critic_of_ddpg_is_a_tuple_of_one() -> None:
    model = DDPG("MlpPolicy", IdentityEnvBox(), **SMALL)
    (found,) = model.critic(torch.rand(3, 1), torch.rand(3, 1))
    assert found.shape == (3, 1)


def test_actions_of_several_axes_have_q_values_too() -> None:
    env: Any = IdentityEnvBox()
    env.action_space = spaces.Box(-1, 1, (2, 3))
    model: Any = SAC("MlpPolicy", env, **SMALL)
    assert model.critic(torch.rand(5, 1), torch.rand(5, 2, 3))[0].shape == (5, 1)


@pytest.mark.parametrize(
    ("kind", "name", "instead"),
    [
        (DQN, "critic", r"print\(model.policy\)"),
        (DQN, "q_net_target", r"print\(model.policy\)"),
        (PPO, "q_net", r"print\(model.policy\)"),
        (SAC, "actor", r"model.policy.predict\(obs, deterministic=True\)"),
        (PPO, "parameters_to_vector", r"torch.nn.utils"),
    ],
)
def test_networks_that_are_not_here_say_what_to_use(kind: Any, name: str, instead: str) -> None:
    model = kind("MlpPolicy", "Pendulum-v1" if kind is SAC else "CartPole-v1")
    for owner in (model, model.policy):
        with pytest.raises(AttributeError, match=f"'{name}': .*{instead}"):
            getattr(owner, name)


def test_a_state_dict_with_other_names_says_that_nothing_changed() -> None:
    model: Any = PPO("MlpPolicy", "CartPole-v1")
    with pytest.warns(UserWarning, match=r"\['action_net.bias'\], so nothing changed.*pi.trunk"):
        model.policy.load_state_dict({"action_net.bias": torch.zeros(2)}, strict=False)
    model.policy.load_state_dict({"pi.out.bias": torch.ones(2)}, strict=False)
    assert model.policy.state_dict()["pi.out.bias"].tolist() == [1.0, 1.0]
