"""Copies of a stack in one tensor: each computes and begins as a stack of its own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from torch.nn.utils import parametrizations

from rlk_mlp.activations import ACTIVATIONS
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import LayersConfig, MlpConfig
from rlk_mlp.network import Mlp


@pytest.mark.parametrize("act_fun", list(ACTIVATIONS))
def test_copies_equal_as_many_stacks_of_their_own(act_fun):
    torch.manual_seed(0)
    batched = BatchedLayers(3, [5, 4], 2, MlpConfig(act_fun=act_fun))
    x = torch.randn(6, 3)
    kept = x.clone()
    found = batched(x)
    assert torch.equal(x, kept)
    assert found.shape == (2, 6, 4)
    for copy in range(2):
        expected = x
        for weight, bias in zip(batched.weights, batched.biases, strict=True):
            expected = ACTIVATIONS[act_fun](expected @ weight[copy] + bias[copy])
        assert torch.allclose(found[copy], expected, atol=1e-6)
        one, other = (
            torch.autograd.grad(value.square().sum(), batched.weights[0], retain_graph=True)[0][
                copy
            ]
            for value in (found[copy], expected)
        )
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_first_copies_evaluated_alone_have_the_same_values_and_gradients(layer_norm):
    torch.manual_seed(0)
    batched = BatchedLayers(3, [5, 4], 3, MlpConfig(layer_norm=layer_norm))
    x = torch.randn(6, 3, requires_grad=True)
    for n in (1, 2, 3):
        alone, all_of_them = batched(x, n), batched(x)
        assert alone.shape == (n, 6, 4)
        assert torch.allclose(alone, all_of_them[:n], atol=1e-6)
        inputs = [x, *batched.parameters()]
        found, expected = (
            torch.autograd.grad(value[:n].square().sum(), inputs) for value in (alone, all_of_them)
        )
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("name", ["weights", "biases"])
def test_a_tensor_that_torch_computes_is_used_as_any_other(name, layer_norm):
    batched = BatchedLayers(3, [4, 5], 2, MlpConfig(layer_norm=layer_norm))
    with torch.no_grad():
        for parameter in batched.parameters():
            parameter.add_(torch.randn(parameter.shape))
    x = torch.randn(6, 3)
    expected = batched(x)
    of_list = getattr(batched, name)
    parametrizations.weight_norm(of_list, "0")
    assert torch.allclose(batched(x), expected, atol=1e-5)
    assert torch.allclose(batched(x, 1), expected[:1], atol=1e-5)
    of_list.parametrizations["0"].original0.data.mul_(2.0)
    assert not torch.allclose(batched(x), expected, atol=1e-2), "its norms are parameters"


def test_copies_with_layer_norm_equal_as_many_stacks_of_their_own():
    torch.manual_seed(0)
    batched = Mlp(MlpConfig(layers=[5, 4], layer_norm=True)).trunk("qf", 3, n_copies=2)
    with torch.no_grad():
        for parameter in batched.parameters():
            parameter.add_(torch.randn(parameter.shape))
    x = torch.randn(6, 3)
    found = batched(x)
    for copy in range(2):
        expected = x
        for i, size in enumerate([5, 4]):
            expected = F.layer_norm(
                expected @ batched.weights[i][copy] + batched.biases[i][copy],
                (size,),
                batched.scales[i][copy, 0],
                batched.shifts[i][copy, 0],
            )
            expected = torch.tanh(expected)
        assert torch.allclose(found[copy], expected, atol=1e-5)


def test_every_copy_is_initialised_as_a_stack_of_its_own():
    torch.manual_seed(0)
    batched = BatchedLayers(4, [4], 2, MlpConfig())
    for weight in batched.weights[0].detach():
        assert torch.allclose(weight @ weight.T, 2.0 * torch.eye(4), atol=1e-5)
    assert not torch.equal(batched.weights[0][0], batched.weights[0][1])


def test_parameters_that_torch_exchanges_have_their_effect():
    config = LayersConfig(layer_norm=True, act_fun="tanh")
    layers, others = (BatchedLayers(3, [4, 5], 2, config) for _ in range(2))
    x = torch.randn(7, 3)
    found = torch.func.functional_call(layers, dict(others.named_parameters()), (x,))
    assert torch.equal(found, others(x)) and not torch.equal(found, layers(x))
