"""What counts as a layer: products that torch is asked for, by whatever module."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_kfac.factors import damped_inverses, kronecker_factors
from rlk_kfac.products import Products
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp
from rlk_networks import Linear
from rlk_on_policy.heads import actor_critic


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def likelihood_to(targets):
    def likelihood(outputs, prediction=None, weight=1.0):
        return -0.5 * (outputs - targets).square().sum(-1).mean()

    return likelihood


class Weights(nn.Module):
    """One weight, and maybe a bias, under whatever product a test writes down."""

    def __init__(self, product, weight, bias=None):
        super().__init__()
        self.weight, self.product = nn.Parameter(weight), product
        self.bias = None if bias is None else nn.Parameter(bias)

    def forward(self, x):
        return self.product(x, self.weight, self.bias)


X, TARGET = normal(12, 3), normal(12, 2, seed=1)
WEIGHT, BIAS = normal(3, 2, seed=2), normal(2, seed=3)
PRODUCTS = {
    "F.linear": lambda x, w, b: F.linear(x, w, b),
    "torch.addmm": lambda x, w, b: torch.addmm(b, x, w),
    "x @ w": lambda x, w, b: x @ w,
    "x.matmul(w)": lambda x, w, b: x.matmul(w),
    "torch.mm": lambda x, w, b: torch.mm(x, w),
}


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_product_with_a_weight_is_a_layer_however_it_is_written(small_network, name):
    transposed, biased = name == "F.linear", name in ("F.linear", "torch.addmm")
    weight = WEIGHT.T.clone() if transposed else WEIGHT.clone()
    net = Weights(PRODUCTS[name], weight, BIAS.clone() if biased else None)
    small = small_network(net, X, lambda y: y.square().mean(), likelihood_to(TARGET), epsilon=0.1)
    moved = small.moved()
    # By hand: rows of what goes in, and of the gradient, which is target - y.
    rows = torch.cat([X, torch.ones(12, 1)], 1) if biased else X
    y = X @ WEIGHT + (BIAS if biased else 0.0)
    errors = TARGET - y
    factors = (rows.T @ rows / 12)[None], (errors.T @ errors / 12)[None]
    ((inner, outer),) = damped_inverses([factors], 0.1)
    gradient = rows.T @ (2 * y / y.numel())
    expected = (inner @ gradient @ outer)[0]
    found = moved["weight"].T if transposed else moved["weight"]
    assert torch.allclose(found, expected[:3], atol=1e-5)
    if biased:
        assert torch.allclose(moved["bias"], expected[3], atol=1e-5)


def test_copies_in_one_batched_product_are_layers_of_their_own(small_network):
    layers = BatchedLayers(3, [4], 2, MlpConfig(act_fun="tanh"))
    singles = [Linear(3, 4), Linear(3, 4)]
    with torch.no_grad():
        for copy, single in enumerate(singles):
            single.weight.copy_(layers.weights[0][copy])
    targets = normal(2, 12, 4, seed=4)

    def as_cases(out):  # [C, B, F] to [B, C * F]
        return out.transpose(0, 1).flatten(1)

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            return as_cases(self.layers(x))

    small = small_network(
        Both(), X, lambda y: y.square().sum(1).mean(), likelihood_to(as_cases(targets)), epsilon=0.1
    )
    moved = small.moved()
    for copy, single in enumerate(singles):
        net = nn.Sequential(single, nn.Tanh())
        alone = small_network(
            net, X, lambda y: y.square().sum(1).mean(), likelihood_to(targets[copy]), epsilon=0.1
        )
        expected = alone.moved()
        assert torch.allclose(moved["layers.weights.0"][copy], expected["0.weight"], atol=1e-5)
        assert torch.allclose(moved["layers.biases.0"][copy, 0], expected["0.bias"], atol=1e-5)


@pytest.mark.parametrize(
    "settings", [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "bias": False}], ids=str
)
def test_a_convolution_sums_over_the_patches_of_a_case(small_network, settings):
    """By brute force: every patch cut out by itself, with the gradient of what came of it."""
    torch.manual_seed(0)
    conv = nn.Conv2d(2, 3, (3, 2), **settings)
    x = normal(4, 2, 7, 6)
    with torch.no_grad():
        shape = conv(x).shape
    targets = normal(*shape, seed=1).flatten(1)
    net = nn.Sequential(conv, nn.Flatten())
    small = small_network(net, x, lambda y: y.square().mean(), likelihood_to(targets))
    errors = (targets - net(x).detach()).view(shape)  # gradients of each case's own likelihood
    small.step()
    (step, pad, wide), n_patches = (conv.stride, conv.padding, conv.dilation), shape[2] * shape[3]
    padded = F.pad(x, (pad[1], pad[1], pad[0], pad[0]))
    inner, outer = 0.0, 0.0
    for case, i, j in np.ndindex(4, shape[2], shape[3]):
        down = slice(i * step[0], i * step[0] + 3 * wide[0], wide[0])
        along = slice(j * step[1], j * step[1] + 2 * wide[1], wide[1])
        patch = padded[case, :, down, along].reshape(-1)
        row = patch if conv.bias is None else torch.cat([patch, torch.ones(1)])
        inner = inner + torch.outer(row, row) / 4
        outer = outer + torch.outer(errors[case, :, i, j], errors[case, :, i, j]) / (4 * n_patches)
    found = small.factors("0.weight")
    assert torch.allclose(found[0], inner, atol=1e-4) and torch.allclose(found[1], outer, atol=1e-4)


def test_factors_of_several_rows_per_case_are_a_sum_and_a_mean():
    rows, gradients = normal(1, 6, 2), normal(1, 6, 3, seed=1)
    inner, outer = kronecker_factors(rows, gradients, n_cases=3)  # two rows of each
    assert torch.allclose(inner[0], rows[0].T @ rows[0] / 3)
    own = 3 * gradients[0]  # of a case's own likelihood, not of the mean of three
    assert torch.allclose(outer[0], own.T @ own / 6)


def test_a_vector_that_stands_in_every_row_is_a_bias_without_a_weight(small_network):
    class Spread(nn.Module):
        def __init__(self):
            super().__init__()
            self.log_std = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            return self.log_std.expand_as(x[:, :2])

    small = small_network(Spread(), X, lambda y: y.sum(1).mean(), likelihood_to(TARGET))
    moved = small.moved()["log_std"]
    assert torch.allclose(small.factors("log_std")[0], torch.ones(1, 1))
    outer = TARGET.T @ TARGET / 12
    assert torch.allclose(small.factors("log_std")[1], outer, atol=1e-6)
    assert torch.allclose(moved, torch.linalg.solve(outer, torch.ones(2)), rtol=1e-2)


def test_a_matrix_that_stands_in_rows_is_no_layer():
    matrix, vector = nn.Parameter(torch.ones(4, 2)), nn.Parameter(torch.ones(2))
    with Products([matrix, vector]) as products:
        matrix.expand_as(torch.zeros(3, 4, 2))
        vector.expand_as(torch.zeros(4, 2))
    assert [product.key for product in products.found] == [(None, 1)]


def test_a_weight_that_is_used_twice_is_one_layer_with_the_rows_of_both(small_network):
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(WEIGHT.clone())

        def forward(self, x):
            return torch.cat([x @ self.weight, (2 * x) @ self.weight], 1)

    targets = normal(12, 4, seed=1)
    small = small_network(Twice(), X, lambda y: y.mean(), likelihood_to(targets))
    small.step()
    assert torch.allclose(small.factors("weight")[0], 5 * X.T @ X / 12, atol=1e-5)


def test_what_is_no_layer_moves_by_the_clipped_gradient_within_the_trust_region(small_network):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.scale = Linear(3, 2), nn.Parameter(torch.ones(2))

        def forward(self, x):
            return self.linear(x) * self.scale

    torch.manual_seed(0)
    net = Scaled()
    names = [name for name, _ in net.named_parameters()]
    found = torch.autograd.grad(net(X).sum(1).mean(), list(net.parameters()))
    norm = torch.cat([one.reshape(-1) for one in found]).norm()
    expected = 0.5 / norm * found[names.index("scale")]
    likelihood = likelihood_to(TARGET)
    small = small_network(net, X, lambda y: y.sum(1).mean(), likelihood, max_grad_norm=0.5)
    assert torch.allclose(small.moved()["scale"], expected, atol=1e-5)
    held = small_network(net, X, lambda y: y.sum(1).mean(), likelihood, kfac_clip=1e-4)
    scale = held.step().metrics["step_scale"]
    assert 0.0 < scale < 1.0


@pytest.mark.parametrize("act_fun", ["tanh", "relu"])
def test_every_layer_of_a_first_party_policy_is_found(act_fun):
    """Its activations write over what layers return, and its weights are used without modules."""
    space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
    config = MlpConfig(net_arch=[6, {"pi": [5], "vf": [4]}], act_fun=act_fun)
    policy = Mlp(config).build(space, actor_critic(DiagGaussian(space)))
    parameters = list(policy.parameters())
    with Products(parameters) as products:
        outputs, value = policy(X, "pi", "vf")
    found = {number for one in products.found for number in (one.weight, one.bias)} - {None}
    assert found == set(range(len(parameters)))
    # The gradient by what a layer returned, before the activation wrote over it.
    loss = outputs.sum() + value.square().sum()
    by_weight = torch.autograd.grad(loss, parameters, retain_graph=True)
    edges = [one.edge for one in products.found]
    for one, gradient in zip(products.found, torch.autograd.grad(loss, edges), strict=True):
        if one.weight is not None:
            assert torch.allclose(one.x.T @ gradient, by_weight[one.weight], atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "x", "settings"),
    [
        ((2, 2, 3, 3), (1, 2, 5, 5), {"padding": "same"}),
        ((2, 1, 3, 3), (1, 2, 5, 5), {"groups": 2}),
        ((2, 2, 3, 3), (2, 5, 5), {}),  # an image without a batch
    ],
)
def test_convolutions_that_no_rows_describe_are_no_layers(kernel, x, settings):
    weight, bias = normal(*kernel).requires_grad_(), torch.zeros(2, requires_grad=True)
    with Products([weight, bias]) as products:
        F.conv2d(normal(*x), weight, bias, **settings)
    assert products.found == []


def test_a_layer_that_losses_begin_to_use_later_is_one_from_then_on(small_network):
    class Grows(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.uses_both = Linear(3, 2), Linear(2, 2), False

        def forward(self, x):
            return self.two(self.one(x)) if self.uses_both else self.one(x)

    grown, whole = (
        small_network(Grows(), X, lambda y: y.sum(1).mean(), likelihood_to(TARGET))
        for _ in range(2)
    )
    grown.step()
    grown.net.uses_both = whole.net.uses_both = True
    whole.flat.flat.copy_(grown.flat.flat)
    found, expected = grown.moved(), whole.moved()
    for name in ("two.weight", "two.bias"):
        assert torch.allclose(found[name], expected[name], rtol=1e-4)


def test_a_product_scaled_by_torch_itself_is_no_layer():
    weight, bias = WEIGHT.clone().requires_grad_(), BIAS.clone().requires_grad_()
    with Products([weight, bias]) as products:
        torch.addmm(bias, X, weight, alpha=2.0)
        torch.addmm(BIAS, X, WEIGHT)  # of nobody's group
        with torch.no_grad():
            torch.addmm(bias, X, weight)
    assert products.found == []
