from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.errors import RlkError
from rlk_flat_parameters import FlatParameters
from rlk_networks import Head, Linear
from rlk_testing.stand_ins import NoLayers

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


def test_a_head_that_is_assigned_takes_the_place_of_the_one_before():
    policy, x = made(), torch.randn(4, 3)
    policy.pi = nn.Linear(3, 5)
    assert torch.equal(policy(x, "pi")[0], policy.pi(x)) and policy(x, "vf")[0].shape == (4, 1)


def test_heads_are_computed_with_the_parameters_of_functional_call():
    policy, x = made(), torch.randn(4, 3)
    zeros = {name: torch.zeros_like(value) for name, value in policy.named_parameters()}
    found = torch.func.functional_call(policy, zeros, (x, "pi", "vf"))
    assert not any(bool(output.any()) for output in found)


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


def test_the_output_of_hidden_layers_is_what_the_output_layer_is_computed_from():
    policy, x = made(), torch.randn(4, 3)
    hidden = policy.hidden(x, "vf")
    assert torch.equal(hidden, policy.vf.trunk(x))
    assert torch.equal(policy.vf.out(hidden), policy(x, "vf")[0])


def test_a_head_that_does_not_exist_or_gives_no_hidden_layers_is_named():
    policy = NoLayers().build(BOX, {"qf": lambda trunk: nn.Linear(3, 1)})
    with pytest.raises(RlkError, match=r"no head 'pi'; it has qf\."):
        policy.hidden(torch.randn(4, 3), "pi")
    with pytest.raises(RlkError, match=r"is a Linear.*hidden\(features\)"):
        policy.hidden(torch.randn(4, 3), "qf")


def test_a_linear_layer_is_a_product_and_a_bias():
    layer = Linear(2, 3)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]))
        layer.bias.copy_(torch.tensor([0.0, 0.0, 0.5]))
    x = torch.tensor([[1.0, 1.0]])
    assert layer(x).tolist() == [[11.0, 22.0, 33.5]]


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

    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, observation):
        return observation - self.offset


def test_a_filter_stands_between_preprocessing_and_the_encoder():
    policy, filtered, x = made(), made(), torch.randn(4, 3)
    module = Minus()
    filtered.add_filter(module)
    assert torch.equal(filtered(x, "pi")[0], policy(x - module.offset, "pi")[0])
    assert torch.equal(filtered.encode(x), policy.encode(x - module.offset))
    assert "filter1.offset" in dict(filtered.named_buffers())
    assert filtered.filters == (module,)


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
    assert target.filters == (module,) and target.filter1 is module
