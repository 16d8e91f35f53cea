"""An encoder of the user's own, before all layers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import rlk


class Sines(torch.nn.Module):
    """Sines of the observation with learnt frequencies."""

    def __init__(self, space):
        super().__init__()
        self.frequencies = torch.nn.Parameter(torch.ones(space.shape[0], 6))

    def forward(self, x):
        return torch.sin(x @ self.frequencies)


@pytest.mark.parametrize("net_arch", [None, [5, {"pi": [3], "vf": [3]}]])
def test_an_encoder_of_ones_own_comes_before_all_layers(rlk_make, net_arch):
    settings = {"policy.encoder": Sines, "policy.net_arch": net_arch, "policy.layers": [3]}
    agent = rlk_make("ppo2", n_steps=8, **settings)
    parameters = agent.get_parameters()
    (frequencies,) = [name for name in parameters if name.endswith("frequencies")]
    agent.learn(16)
    assert not np.array_equal(agent.get_parameters()[frequencies], parameters[frequencies])
    inputs = parameters["model/pi/trunk/layers/0/weight"].shape[0]
    assert inputs == (6 if net_arch is None else 5)


class FrozenFirst(torch.nn.Module):
    """A layer that is never trained, of other numbers in every object, before one that is."""

    numbers = itertools.count(1)

    def __init__(self, space):
        super().__init__()
        self.frozen, self.trained = torch.nn.Linear(space.shape[0], 6), torch.nn.Linear(6, 6)
        torch.nn.init.constant_(self.frozen.bias, 0.1 * next(self.numbers))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        return torch.tanh(self.trained(torch.tanh(self.frozen(x))))


@pytest.mark.parametrize("algo", ["ppo2", "dqn"])
def test_layers_that_are_not_trained_are_saved_too(rlk_make, algo, tmp_path):
    agent = rlk_make(algo, seed=1, **{"policy.encoder": FrozenFirst})
    agent.learn(16)
    agent.save(tmp_path / "model.zip")
    seen = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)

    def outputs(one):
        policy, head = one.run.policy, "qf" if algo == "dqn" else "vf"
        modules = [policy, one.run.algorithm.target.module] if algo == "dqn" else [policy]
        return torch.cat([module(torch.from_numpy(seen), head)[0] for module in modules])

    with rlk.load(tmp_path / "model.zip", policy={"encoder": FrozenFirst}) as loaded:
        assert torch.equal(outputs(agent), outputs(loaded))


def test_an_encoder_that_is_passed_as_a_module_is_copied(rlk_make):
    encoder = torch.nn.Linear(4, 6)
    before = encoder.weight.detach().clone()
    agent = rlk_make("ppo2", n_steps=8, **{"policy.encoder": encoder})
    agent.learn(16)
    assert torch.equal(encoder.weight, before)
    assert not torch.equal(agent.run.policy.shared.weight, before)
