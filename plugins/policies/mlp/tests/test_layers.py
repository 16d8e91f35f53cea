"""One stack of layers: what it computes, and the weights that it begins with."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune
from torch.nn.utils import spectral_norm as spectral_norm_by_a_hook

from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import MlpConfig


@pytest.mark.parametrize(
    ("act_fun", "expected"),
    [
        ("tanh", [math.tanh(5.5), math.tanh(-3.0)]),
        ("relu", [5.5, 0.0]),
        ("elu", [5.5, math.exp(-3.0) - 1.0]),
        ("leaky_relu", [5.5, -0.03]),
    ],
)
def test_a_layer_is_a_product_a_bias_and_an_activation(layers, act_fun, expected):
    made = layers(2, [2], act_fun=act_fun)
    with torch.no_grad():
        made.layers[0].weight.copy_(torch.tensor([[1.0, -1.0], [2.0, -1.0]]))  # [inputs, outputs]
        made.layers[0].bias.copy_(torch.tensor([0.5, 0.0]))
    # (1 * 1 + 2 * 2 + 0.5, 1 * -1 + 2 * -1)
    found = made(torch.tensor([[1.0, 2.0]]))[0].tolist()
    assert found == pytest.approx(expected, abs=1e-6)


def test_weights_that_are_assigned_take_the_place_of_those_before(layers):
    made = layers(2, [3])
    x = torch.tensor([[1.0, -0.5]])
    state = {"layers.0.weight": torch.zeros(2, 3), "layers.0.bias": torch.full((3,), 2.0)}
    made.load_state_dict(state, assign=True)
    assert made(x)[0].tolist() == pytest.approx([math.tanh(2.0)] * 3)


def pruned(layer):
    prune.l1_unstructured(layer, "weight", 0.5)


@pytest.mark.parametrize(
    "change", [parametrizations.spectral_norm, spectral_norm_by_a_hook, pruned]
)
def test_a_weight_that_torch_computes_from_another_has_its_effect_and_passes_gradients_on(
    layers, change
):
    made, x = layers(3, [5, 4]), torch.randn(6, 3)
    before = made(x).detach()
    change(made.layers[1])
    for _ in range(2):  # a weight computed only once has no graph left for the second gradient
        made(x).sum().backward()
    assert all(parameter.grad is not None for parameter in made.parameters())
    made.eval()  # spectral norm computes the same weight again
    first, second = made.layers
    found = made(x)
    assert torch.allclose(found, torch.tanh(second(torch.tanh(first(x)))))
    assert not torch.allclose(found, before)


@pytest.mark.parametrize(
    "register",
    [
        "register_forward_pre_hook",
        "register_forward_hook",
        "register_full_backward_pre_hook",
        "register_full_backward_hook",
    ],
)
def test_a_hook_of_a_layer_is_called_until_it_is_removed(layers, register):
    made = layers(3, [5, 4])
    copied, calls = copy.deepcopy(made), []
    handle = getattr(copied.layers[1], register)(lambda *_: calls.append(1))
    x = torch.randn(6, 3)
    for each in (copied, made):
        each(x).sum().backward()
    assert len(calls) == 1
    handle.remove()
    copied(x).sum().backward()
    assert len(calls) == 1


def test_a_hook_may_keep_the_output_of_a_layer_before_its_activation(layers):
    made, kept = layers(3, [5]), []
    made.layers[0].register_forward_hook(lambda _, given, output: kept.append(output))
    found = made(torch.randn(6, 3))
    assert torch.equal(torch.tanh(kept[0]), found)


def test_layers_follow_one_another(layers):
    made = layers(3, [5, 4])
    x = torch.randn(6, 3)
    expected = x
    for layer in made.layers:
        expected = torch.tanh(expected @ layer.weight + layer.bias)
    assert torch.allclose(made(x), expected, atol=1e-6)
    assert made.features == 4


def test_layer_norm_comes_before_the_activation(layers):
    made = layers(3, [5], layer_norm=True)
    x = torch.randn(6, 3)
    linear = x @ made.layers[0].weight + made.layers[0].bias
    assert torch.allclose(made(x), torch.tanh(F.layer_norm(linear, (5,))), atol=1e-6)


@pytest.mark.parametrize(
    "sizes",
    [
        {"layers": [64, 1]},
        {"net_arch": [1]},
        {"net_arch": [{"qf": [8, 1]}]},
        {"net_arch": {"vf": [1], "pi": [8]}},
    ],
)
def test_layer_norm_of_one_unit_is_refused_because_it_is_a_constant(sizes):
    MlpConfig(**sizes)
    with pytest.raises(ValueError, match="layer_norm makes a layer of one unit a constant"):
        MlpConfig(**sizes, layer_norm=True)


def test_layers_that_net_arch_replaces_may_have_one_unit():
    assert MlpConfig(layers=[1], net_arch=[8], layer_norm=True).own("pi") == []


def test_no_layers_at_all_pass_on_what_they_are_given(layers):
    made = layers(4, [])
    x = torch.randn(2, 4)
    assert torch.equal(made(x), x) and made.features == 4


def test_observations_of_several_axes_are_flattened(layers):
    made = layers(6, [4])
    x = torch.randn(5, 2, 3)
    assert torch.equal(made(x), made(x.flatten(1)))


@pytest.mark.parametrize(("inputs", "outputs"), [(6, 3), (3, 6), (4, 4)])
def test_orthogonal_weights_keep_lengths_but_for_the_root_of_two(layers, inputs, outputs):
    weight = layers(inputs, [outputs]).layers[0].weight.detach()
    product = weight.T @ weight if outputs <= inputs else weight @ weight.T
    assert torch.allclose(product, 2.0 * torch.eye(min(inputs, outputs)), atol=1e-5)


def test_xavier_weights_are_uniform_within_the_root_of_six_over_fan_in_and_fan_out(layers):
    weight = layers(200, [100], init="xavier").layers[0].weight
    bound = math.sqrt(6 / (200 + 100))
    assert weight.abs().max().item() <= bound
    # The variance of a uniform distribution is bound^2 / 3; 20,000 weights give it to 2 %.
    assert weight.var().item() == pytest.approx(bound**2 / 3, rel=0.05)


@pytest.mark.parametrize("init", ["orthogonal", "xavier"])
def test_biases_begin_at_zero(layers, init):
    assert all(not bool(layer.bias.any()) for layer in layers(3, [5, 4], init=init).layers)


def test_uniform_weights_and_biases_are_within_one_over_the_root_of_the_inputs(layers):
    torch.manual_seed(0)
    layer = layers(400, [100], init="uniform").layers[0]
    for values in (layer.weight, layer.bias):
        assert values.abs().max().item() <= 1 / 20
        assert values.var().item() == pytest.approx((1 / 20) ** 2 / 3, rel=0.2)
    batched = BatchedLayers(400, [100], 2, MlpConfig(init="uniform"))
    assert 0 < batched.biases[0].abs().max().item() <= 1 / 20
