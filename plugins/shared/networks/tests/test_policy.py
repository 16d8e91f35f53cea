from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk_flat_parameters import FlatParameters
from rlk_networks import Head, Linear, twin
from rlk_testing import NoLayers

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


def head(trunk, role="pi", size=2):
    layers = trunk(role)
    return Head(layers, Linear(layers.features, size))


def made(space=BOX, **sizes):
    torch.manual_seed(0)
    sizes = sizes or {"pi": 2, "vf": 1}
    heads = {name: lambda trunk, size=size: head(trunk, "pi", size) for name, size in sizes.items()}
    return NoLayers().build(space, heads)


def test_heads_are_submodules_by_their_names():
    assert [name for name, _ in made().named_parameters()] == [
        "pi.out.weight",
        "pi.out.bias",
        "vf.out.weight",
        "vf.out.bias",
    ]


def test_the_heads_that_are_named_are_computed_in_that_order():
    policy, x = made(), torch.randn(4, 3)
    pi, vf = policy(x, "pi", "vf")
    assert pi.shape == (4, 2) and vf.shape == (4, 1)
    assert torch.equal(policy(x, "vf")[0], vf)
    assert torch.equal(policy(x, "vf", "pi")[1], pi)


def test_observations_are_preprocessed_by_their_space():
    policy = made(gym.spaces.Discrete(5, start=2))
    found = policy.encode(torch.tensor([2, 6]))
    assert found.tolist() == [[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0]]


def test_numpy_twins_compute_the_same_on_the_same_memory():
    policy = made()
    flat = FlatParameters(policy)
    pi, vf = policy.numpy_forward("pi", "vf")
    x = torch.randn(4, 3)
    for _ in range(2):
        expected = policy(x, "pi", "vf")
        assert np.allclose(pi(x.numpy()), expected[0].detach().numpy(), atol=1e-6)
        assert np.allclose(vf(x.numpy()), expected[1].detach().numpy(), atol=1e-6)
        flat.flat.mul_(2.0)


class TakesADict(NoLayers):
    """Reads one key of a Dict observation as it is."""

    def encoder(self, observation_space):
        return OneKey()


class OneKey(nn.Module):
    features = 3

    def forward(self, observation):
        return observation["place"]

    def numpy_forward(self):
        return lambda observation: observation["place"].astype(np.float32)


def test_the_twin_of_an_encoder_of_dicts_is_given_the_raw_dict():
    space = gym.spaces.Dict({"place": gym.spaces.Box(-9, 9, (3,), np.float64)})
    policy = TakesADict().build(space, {"pi": head})
    place = np.array([[1.0, 2.0, 3.0]])
    (forward,) = policy.numpy_forward("pi")
    (expected,) = policy({"place": torch.from_numpy(place)}, "pi")
    assert np.allclose(forward({"place": place}), expected.detach().numpy(), atol=1e-6)


def test_a_dict_that_the_encoder_has_no_twin_for_has_none():
    class NoReader(TakesADict):
        def encoder(self, observation_space):
            layer = nn.Identity()
            layer.features = 3
            return layer

    space = gym.spaces.Dict({"place": BOX})
    assert NoReader().build(space, {"pi": head}).numpy_forward("pi") is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_twin_takes_plain_observations_of_any_float(dtype):
    policy = made(gym.spaces.Box(-1.0, 1.0, (3,), dtype))
    x = np.array([[0.5, -0.25, 1.0]], dtype)
    (forward,) = policy.numpy_forward("pi")
    assert forward(x).dtype == np.float32
    expected = policy(torch.from_numpy(x), "pi")[0].detach().numpy()
    assert np.allclose(forward(x), expected, atol=1e-6)


class NoTwin(NoLayers):
    def trunk(self, role, features, *, extra=0, n_copies=1):
        layer = nn.Linear(features, 4)
        layer.features = 4
        return layer


@pytest.mark.parametrize(
    "space", [gym.spaces.Discrete(3), gym.spaces.Box(0, 255, (4, 4, 3), np.uint8)]
)
def test_there_is_no_twin_for_other_observations_than_plain_floats(space):
    assert made(space).numpy_forward("pi") is None


def test_there_is_no_twin_where_a_part_has_none():
    assert NoTwin().build(BOX, {"pi": head}).numpy_forward("pi") is None
    assert twin(nn.Linear(2, 2)) is None


def test_a_large_network_has_no_twin():
    assert made(pi=200_001).numpy_forward("pi") is None


def test_a_large_head_is_in_nobodys_way_but_its_own():
    policy = made(pi=2, vf=200_001)
    assert policy.numpy_forward("vf") is None and policy.numpy_forward("pi", "vf") is None
    assert policy.numpy_forward("pi") is not None


def test_a_linear_layer_is_a_product_and_a_bias():
    layer = Linear(2, 3)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]))
        layer.bias.copy_(torch.tensor([0.0, 0.0, 0.5]))
    x = torch.tensor([[1.0, 1.0]])
    assert layer(x).tolist() == [[11.0, 22.0, 33.5]]
    assert layer.numpy_forward()(x.numpy()).tolist() == [[11.0, 22.0, 33.5]]


@pytest.mark.parametrize(("features", "size"), [(6, 3), (3, 6)])
def test_a_linear_layer_begins_orthogonal_with_its_gain_and_no_bias(features, size):
    layer = Linear(features, size, gain=0.5)
    weight = layer.weight.detach()
    product = weight.T @ weight if size <= features else weight @ weight.T
    assert torch.allclose(product, 0.25 * torch.eye(min(features, size)), atol=1e-6)
    assert not bool(layer.bias.any())


def test_a_copy_computes_with_parameters_of_its_own():
    policy, x = made(), torch.randn(4, 3)
    other = copy.deepcopy(policy)
    before = other(x, "pi")[0].clone()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.zero_()
    assert torch.equal(other(x, "pi")[0], before)


class Minus(nn.Module):
    """Subtracts what its buffer says."""

    def __init__(self, twin=True):
        super().__init__()
        self.register_buffer("offset", torch.tensor([1.0, 2.0, 3.0]))
        if twin:
            self.numpy_forward = lambda: lambda x: x - self.offset.numpy()

    def forward(self, observation):
        return observation - self.offset


def test_a_filter_stands_between_preprocessing_and_the_encoder():
    policy, filtered, x = made(), made(), torch.randn(4, 3)
    module = Minus()
    filtered.add_filter(module)
    assert torch.equal(filtered(x, "pi")[0], policy(x - module.offset, "pi")[0])
    assert torch.equal(filtered.encode(x), policy.encode(x - module.offset))
    assert "filter1.offset" in dict(filtered.named_buffers())
    (twin_of_pi,) = filtered.numpy_forward("pi")
    for _ in range(2):
        expected = filtered(x, "pi")[0].detach().numpy()
        np.testing.assert_allclose(twin_of_pi(x.numpy()), expected, rtol=1e-5, atol=1e-6)
        module.offset.mul_(2.0)


def test_filters_are_passed_in_the_order_they_were_added():
    class Double(nn.Module):
        def forward(self, observation):
            return 2.0 * observation

    policy, x = made(), torch.randn(4, 3)
    for module in (Double(), Minus()):
        policy.add_filter(module)
    assert torch.equal(policy.preprocess(x), 2.0 * x - torch.tensor([1.0, 2.0, 3.0]))


def test_a_target_goes_through_the_filter_of_its_policy_and_not_a_copy():
    policy, x = made(), torch.randn(4, 3)
    module = Minus()
    policy.add_filter(module)
    target = FlatParameters(policy).clone().module
    module.offset.fill_(7.0)
    assert torch.equal(target(x, "pi")[0], policy(x, "pi")[0])
    assert np.array_equal(
        target.numpy_forward("pi")[0](x.numpy()), policy.numpy_forward("pi")[0](x.numpy())
    )


def test_a_filter_without_a_numpy_twin_leaves_the_policy_without_one():
    policy = made()
    policy.add_filter(Minus(twin=False))
    assert policy.numpy_forward("pi") is None
