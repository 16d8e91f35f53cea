"""Gradients in numpy against numbers by hand and against autograd."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk_networks import (
    ChainGradient,
    DenseGradient,
    FlatParameters,
    Head,
    Linear,
    gradient_twin,
    in_order,
)
from rlk_testing import NoLayers

BOX = gym.spaces.Box(-1.0, 1.0, (3,))


def head(trunk):
    hidden = trunk("qf")
    return Head(hidden, Linear(hidden.features, 2))


def by_autograd(module, x, slope):
    """Gradients by parameters and input."""
    x = torch.from_numpy(x).requires_grad_()
    wanted = [*module.parameters(), x]
    return [g.numpy() for g in torch.autograd.grad(module(x), wanted, torch.from_numpy(slope))]


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def test_a_linear_layer_by_hand():
    layer = Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0], [10.0, 20.0]]))
        layer.bias.copy_(torch.tensor([0.5, 0.0]))
    made = layer.numpy_gradient()
    x, slope = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.eye(2, dtype=np.float32)
    out, kept = made.forward(x)
    assert out.tolist() == [[21.5, 42.0], [43.5, 86.0]]
    (weight, bias), before = made.backward(kept, slope.copy(), True)
    assert weight.tolist() == [[1.0, 3.0], [2.0, 4.0]]  # x^T slope
    assert bias.tolist() == [1.0, 1.0]
    assert before.tolist() == [[1.0, 10.0], [2.0, 20.0]]  # slope W^T
    assert made.parameters[0] is layer.weight and made.parameters[1] is layer.bias


def test_the_input_s_gradient_is_only_made_when_it_is_wanted():
    made = Linear(2, 2).numpy_gradient()
    assert made.backward(made.forward(random(3, 2))[1], random(3, 2))[1] is None


def test_it_follows_its_parameters():
    layer = Linear(2, 2)
    made, x = layer.numpy_gradient(), random(3, 2)
    with torch.no_grad():
        layer.weight.mul_(-2.0)
    assert np.allclose(made.forward(x)[0], layer(torch.from_numpy(x)).detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("rows", [1, 7, 7, 3])
def test_a_chain_of_layers_equals_autograd(rows):
    first, second = Linear(3, 5), Linear(5, 2)
    made = ChainGradient(first.numpy_gradient(), second.numpy_gradient())
    x, slope = random(rows, 3), random(rows, 2, seed=1)
    out, kept = made.forward(x)
    module = nn.Sequential(first, second)
    assert np.allclose(out, module(torch.from_numpy(x)).detach().numpy(), atol=1e-6)
    found, before = made.backward(kept, slope.copy(), True)
    for ours, theirs in zip([*found, before], by_autograd(module, x, slope), strict=True):
        assert ours.shape == theirs.shape and np.allclose(ours, theirs, atol=1e-5)


def test_batches_of_changing_size_are_summed_whole():
    made = Linear(1, 1).numpy_gradient()
    for rows in (4, 2, 5):
        kept = made.forward(np.ones((rows, 1), np.float32))[1]
        found, _ = made.backward(kept, np.ones((rows, 1), np.float32))
        assert [float(each.sum()) for each in found] == [rows, rows]


def test_an_activation_takes_part_in_both_ways():
    weight, bias = nn.Parameter(torch.tensor([[2.0]])), nn.Parameter(torch.tensor([-1.0]))
    made = DenseGradient(
        [(weight, bias)],
        lambda x: np.square(x, out=x),
        lambda slope, y: np.multiply(slope, 2 * np.sqrt(y), out=slope),
    )
    out, kept = made.forward(np.array([[3.0]], np.float32))
    assert out.tolist() == [[25.0]]  # (2 * 3 - 1)^2
    (by_weight, by_bias), before = made.backward(kept, np.ones((1, 1), np.float32), True)
    assert by_bias.tolist() == [10.0] and by_weight.tolist() == [[30.0]]
    assert before.tolist() == [[20.0]]


def test_no_layers_flatten_and_pass_slopes_on():
    made, slope = DenseGradient([]), random(2, 6)
    out, kept = made.forward(np.arange(12.0, dtype=np.float32).reshape(2, 3, 2))
    assert out.shape == (2, 6)
    found, before = made.backward(kept, slope, True)
    assert found == [] and np.array_equal(before, slope)


def test_a_module_without_one_has_none():
    assert gradient_twin(nn.Linear(2, 2)) is None
    assert Head(nn.Linear(2, 2), Linear(2, 2)).numpy_gradient() is None


# ---- in the order of a group ---------------------------------------------------------------------


def test_flat_gradients_are_in_the_order_of_the_parameters_that_are_asked_for():
    one, two, three = (nn.Parameter(torch.zeros(n)) for n in (1, 2, 3))
    flat = in_order([three, one], [one, two, three])
    found = [np.array([1.0]), np.array([2.0, 2.0]), np.array([3.0, 3.0, 3.0])]
    assert flat(found).tolist() == [3.0, 3.0, 3.0, 1.0]


def test_a_parameter_that_has_no_gradient_there_is_told():
    one, two = (nn.Parameter(torch.zeros(1)) for _ in range(2))
    assert in_order([one, two], [one]) is None


# ---- of a policy ---------------------------------------------------------------------------------


def made(space=BOX):
    torch.manual_seed(0)
    return NoLayers().build(space, {"qf": head})


def test_a_policy_s_equals_autograd_from_raw_observations():
    policy = made(gym.spaces.Box(-1.0, 1.0, (3,), np.float64))
    flat = FlatParameters(policy)
    gradient = policy.numpy_gradient("qf")
    x, slope = random(5, 3).astype(np.float64), random(5, 2, seed=1)
    out, kept = gradient.forward(x)
    (expected,) = policy(torch.from_numpy(x), "qf")
    assert np.allclose(out, expected.detach().numpy(), atol=1e-6)
    found = in_order(flat.parameters, gradient.parameters)(gradient.backward(kept, slope)[0])
    grads = torch.autograd.grad(expected, flat.parameters, torch.from_numpy(slope))
    assert np.allclose(found, torch.cat([g.reshape(-1) for g in grads]).numpy(), atol=1e-5)


class Encodes(NoLayers):
    """An encoder that learns."""

    def encoder(self, observation_space):
        layer = Linear(3, 4)
        layer.features = 4
        return layer


def test_an_encoder_that_learns_is_part_of_it():
    torch.manual_seed(0)
    policy = Encodes().build(BOX, {"qf": head})
    gradient = policy.numpy_gradient("qf")
    x, slope = random(5, 3), random(5, 2, seed=1)
    out, kept = gradient.forward(x)
    (expected,) = policy(torch.from_numpy(x), "qf")
    assert np.allclose(out, expected.detach().numpy(), atol=1e-6)
    grads = torch.autograd.grad(expected, list(policy.parameters()), torch.from_numpy(slope))
    flat = in_order(list(policy.parameters()), gradient.parameters)
    expected = torch.cat([g.reshape(-1) for g in grads]).numpy()
    assert np.allclose(flat(gradient.backward(kept, slope)[0]), expected, atol=1e-5)


class Shift(nn.Module):
    def __init__(self, has_twin):
        super().__init__()
        self.numpy_forward = (lambda: lambda x: x + 1.0) if has_twin else (lambda: None)

    def forward(self, x):
        return x + 1.0


def test_a_filter_comes_before_it():
    policy, x = made(), random(5, 3)
    policy.add_filter(Shift(has_twin=True))
    (expected,) = policy(torch.from_numpy(x), "qf")
    found = policy.numpy_gradient("qf").forward(x)[0]
    assert np.allclose(found, expected.detach().numpy(), atol=1e-6)
    policy.add_filter(Shift(has_twin=False))
    assert policy.numpy_gradient("qf") is None


class NoTwin(NoLayers):
    def trunk(self, role, features, *, extra=0, copies=1):
        layer = nn.Linear(features, 4)
        layer.features = 4
        return layer


def test_there_is_none_where_a_part_has_none_or_the_network_is_large():
    assert NoTwin().build(BOX, {"qf": head}).numpy_gradient("qf") is None
    large = NoLayers().build(gym.spaces.Box(-1.0, 1.0, (100_001,)), {"qf": head})
    assert large.numpy_gradient("qf") is None
    assert made(gym.spaces.Discrete(3)).numpy_gradient("qf") is None


def test_off_the_cpu_there_is_no_twin_of_either_kind():
    policy = made().to("meta")
    assert policy.numpy_gradient("qf") is None and policy.numpy_forward("qf") is None
