"""K-FAC beside the Fisher matrix itself, of networks small enough to write it down.

The dense matrix is E[g g^T] with g the gradient of log pi(a|x) by all parameters, the expectation
over actions taken exactly: a categorical has few.
"""

from __future__ import annotations

import itertools

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk_categorical.distribution import Categorical
from rlk_on_policy.sampled_likelihood import SampledLikelihood

SPACE = gym.spaces.Discrete(3)
DAMPING = 1e-4


def observations(rows):
    return torch.randn(rows, 2, generator=torch.Generator().manual_seed(5))


def dense_fisher(net, x):
    """float [P, P], by every row and every action."""
    parameters = list(net.parameters())
    logits = net(x)
    log_p = torch.log_softmax(logits, 1)
    fisher = 0.0
    for row in range(len(x)):
        for action in range(3):
            parts = torch.autograd.grad(log_p[row, action], parameters, retain_graph=True)
            g = torch.cat([part.reshape(-1) for part in parts])
            fisher = fisher + log_p[row, action].exp().detach() * torch.outer(g, g) / len(x)
    return fisher


def sampled(seed=0):
    rng = np.random.default_rng(seed)
    return SampledLikelihood(Categorical(SPACE), lambda: rng)


def network(*sizes):
    torch.manual_seed(1)
    layers = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def kronecker(small, name):
    """A (x) G of a layer, in the order of its weight [O, I] and its bias."""
    inner, outer = small.factors(f"{name}.weight")
    full = torch.kron(outer, inner)  # rows of [O, I + 1]
    size, inputs = len(outer), len(inner)
    order = [o * inputs + i for o in range(size) for i in range(inputs - 1)]
    order += [o * inputs + inputs - 1 for o in range(size)]
    return full[order][:, order]


def test_with_one_observation_the_kronecker_product_is_the_block_of_the_dense_matrix(
    small_network,
):
    net = network(2, 4, 3)
    x = observations(1).expand(40_000, 2).contiguous()
    dense = dense_fisher(net, x[:1])
    small = small_network(net, x, lambda y: y.square().mean(), sampled(), rate=0.0)
    small.step()
    sizes = [one.numel() for one in net.parameters()]
    at = 0
    for name, (weight, bias) in zip("02", zip(sizes[::2], sizes[1::2], strict=True), strict=True):
        size = weight + bias
        block = dense[at : at + size, at : at + size]
        assert torch.allclose(kronecker(small, name), block, atol=0.02 * float(block.abs().max()))
        at += size


def test_a_step_is_nearer_to_that_of_the_dense_matrix_than_the_gradient(small_network):
    """Over many observations the blocks are approximate.

    What is compared is what a step costs, sqrt(s^T F s), for what it gains, s^T g: nothing costs
    less than F^-1 g.
    """
    net = network(2, 6, 3)
    x = observations(150) * torch.tensor([3.0, 0.3])  # badly scaled: what a gradient suffers from
    wanted = (x[:, 1] > 0).long() + (x[:, 0] > 3.0).long()

    def value(logits):
        return nn.functional.cross_entropy(logits, wanted)

    parts = torch.autograd.grad(value(net(x)), list(net.parameters()))
    gradient = torch.cat([part.reshape(-1) for part in parts])
    dense = dense_fisher(net, x) + DAMPING * torch.eye(len(gradient))

    def cost(step):
        return float(step @ dense @ step) ** 0.5 / float(step @ gradient)

    settings = {"epsilon": DAMPING, "stats_decay": 0.99, "cold_iter": 80, "rate": 0.0}
    small = small_network(net, x, value, sampled(), **settings)
    for _ in range(80):  # at a rate of 0: only the means of the factors move
        small.step()
    small.group.learning_rate.fill_(1e-3)
    moved = small.moved()
    found = torch.cat([moved[name].reshape(-1) for name in moved])
    least = cost(torch.linalg.solve(dense, gradient))
    assert cost(found) < 1.25 * least
    assert cost(gradient) > 1.5 * least


def test_a_single_layer_of_many_observations_has_the_dense_matrix_where_inputs_are_independent(
    small_network,
):
    """At uniform logits G does not depend on the row, so E[a a^T (x) g g^T] = A (x) G exactly."""
    net = network(2, 3)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    x = observations(20_000)
    small = small_network(net, x, lambda y: y.square().mean(), sampled(), rate=0.0)
    small.step()
    inner, outer = small.factors("0.weight")
    p = torch.full((3,), 1 / 3)
    exact = torch.kron(torch.diag(p) - torch.outer(p, p), inner)
    assert torch.allclose(torch.kron(outer, inner), exact, atol=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_samples_are_of_the_model_and_not_of_what_was_done(small_network, seed):
    """Logits far from uniform: G is diag(p) - p p^T of the policy."""
    net = nn.Linear(1, 3)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.copy_(torch.tensor([0.0, 1.0, -2.0]))
    x = torch.ones(30_000, 1)
    small = small_network(net, x, lambda y: y.square().mean(), sampled(seed), rate=0.0)
    small.step()
    p = torch.softmax(net.bias.detach(), 0)
    assert torch.allclose(small.factors("weight")[1], torch.diag(p) - torch.outer(p, p), atol=0.01)
