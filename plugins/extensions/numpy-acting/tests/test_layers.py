"""Modules in numpy against torch, with random weights; what is not known stays in torch."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from rlk_diag_gaussian.distribution import GaussianHead
from rlk_gsde.config import GSDEConfig
from rlk_gsde.head import NoiseHead
from rlk_mlp.config import MlpConfig
from rlk_mlp.layers import Layers
from rlk_mlp.network import Mlp
from rlk_multi_input.config import MultiInputConfig
from rlk_multi_input.network import ConcatenatedKeys
from rlk_networks import Head, Linear
from rlk_numpy_acting.forward import StaysInTorch
from rlk_numpy_acting.layers import forward_of
from rlk_off_policy.heads import DeterministicHead, DuelingHead

PLACE = gym.spaces.Dict(
    {"b": gym.spaces.Box(-1.0, 1.0, (2, 2), np.float32), "a": gym.spaces.Discrete(3)}
)
PICTURE = gym.spaces.Dict({"picture": gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)})


def layers(sizes, inputs=6, **settings):
    return Layers(inputs, sizes, MlpConfig(**settings))


def trunk(role, *, extra=0, n_copies=1):
    return Mlp(MlpConfig(layers=[5, 4])).trunk(role, 6, extra=extra, n_copies=n_copies)


MODULES = {
    "linear": lambda: Linear(6, 3),
    "tanh": lambda: layers([5, 4]),
    "relu": lambda: layers([5], act_fun="relu"),
    "layer norm": lambda: layers([5, 4], layer_norm=True, act_fun="relu"),
    "no layers": lambda: layers([], act_fun="elu"),
    "head": lambda: Head(layers([5]), Linear(5, 2)),
    "Gaussian head": lambda: Head(layers([5]), GaussianHead(5, 3, -0.5)),
    "noise head": lambda: NoiseHead(6, 2, GSDEConfig()),
    "noise head, expln": lambda: NoiseHead(6, 2, GSDEConfig(use_expln=True)),
    "deterministic head": lambda: DeterministicHead(trunk, 2),
    "dueling head": lambda: DuelingHead(trunk, 3),
}


def randomise(module, seed):
    """Every parameter from a normal distribution."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))


@pytest.mark.parametrize("name", MODULES)
def test_numpy_equals_torch_and_follows_the_parameters(name):
    module = MODULES[name]()
    forward = forward_of(module)
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(0))
    kept = x.clone()
    for seed in range(5):
        randomise(module, seed)
        expected = module(x).detach().numpy()
        found = forward(x.numpy())
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert torch.equal(x, kept), "it wrote to its input"


def test_layers_flatten_observations_of_several_axes():
    module, x = layers([4]), torch.randn(5, 2, 3)
    found = forward_of(module)(x.numpy())
    np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("net_arch", [None, [4]])
def test_keys_of_a_dict_are_concatenated_in_the_same_order(net_arch):
    module = ConcatenatedKeys(PLACE, MultiInputConfig(net_arch=net_arch))
    randomise(module, 0)
    given = {"b": torch.randn(5, 2, 2), "a": torch.randn(5, 3)}
    found = forward_of(module)({key: value.numpy() for key, value in given.items()})
    np.testing.assert_allclose(found, module(given).detach().numpy(), rtol=1e-5, atol=1e-6)


class Doubled(Linear):
    """A subclass whose forward is another one."""

    def forward(self, x):
        return 2.0 * super().forward(x)


@pytest.mark.parametrize(
    "module",
    [
        nn.Linear(6, 2),
        Doubled(6, 2),
        Head(layers([5]), Doubled(5, 2)),
        Head(nn.Identity(), Linear(6, 2)),
        layers([5], act_fun="elu"),
        ConcatenatedKeys(PICTURE, MultiInputConfig(features=4)),
    ],
    ids=lambda module: type(module).__name__,
)
def test_what_is_not_known_stays_in_torch(module):
    with pytest.raises(StaysInTorch):
        forward_of(module)


@pytest.mark.parametrize(
    ("module", "part"),
    [
        (layers([5, 4]), "layers.1"),
        (Head(layers([5]), GaussianHead(5, 3, -0.5)), "out.mean"),
        (NoiseHead(6, 2, GSDEConfig()), "mean"),
    ],
    ids=["layers", "Gaussian head", "noise head"],
)
def test_weights_that_torch_computes_from_others_stay_in_torch(module, part):
    parametrizations.weight_norm(module.get_submodule(part))
    with pytest.raises(StaysInTorch, match="computed from other parameters"):
        forward_of(module)
