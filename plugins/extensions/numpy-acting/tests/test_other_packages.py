"""Heads and layers of other packages, which offer a numpy forward themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from test_actors import (
    OBSERVATION_SPACES,
    architecture,
    built,
    equal_in_both,
    greedy,
    with_one_thread,
)
from torch import nn

from rlk_networks import Head, Linear
from rlk_numpy_acting.actors import NumpyGreedyActor, in_numpy
from rlk_numpy_acting.forward import StaysInTorch
from rlk_numpy_acting.layers import forward_of

__all__ = ["with_one_thread"]

ACTIONS, QUANTILES = 3, 5


class Mean(nn.Module):
    """An output layer: quantiles of each action [B, A, N], of which it returns the mean [B, A]."""

    def __init__(self, features):
        super().__init__()
        self.linear = Linear(features, ACTIONS * QUANTILES)

    def forward(self, features):
        return self.linear(features).reshape(-1, ACTIONS, QUANTILES).mean(2)

    def numpy_forward(self):
        weight, bias = (one.detach().numpy() for one in (self.linear.weight, self.linear.bias))
        return lambda x: (x.dot(weight) + bias).reshape(-1, ACTIONS, QUANTILES).mean(2)


class MeanHead(nn.Module):
    """A whole head, which asks for the numpy forward of its hidden layers."""

    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk("qf")
        self.out = Mean(self.trunk.features)

    def forward(self, features):
        return self.out(self.trunk(features))

    def numpy_forward(self):
        trunk, out = forward_of(self.trunk), self.out.numpy_forward()
        return lambda features: out(trunk(features))


class Doubled(Mean):
    """Inherits a numpy forward that is no longer that of its forward."""

    def forward(self, features):
        return 2.0 * super().forward(features)


class DoubledInNumpyToo(Doubled):
    def numpy_forward(self):
        forward = super().numpy_forward()
        return lambda features: 2.0 * forward(features)


def composed(trunk):
    """A head of this repository around an output layer of another package."""
    hidden = trunk("qf")
    return Head(hidden, Mean(hidden.features))


@pytest.mark.parametrize("head", [MeanHead, composed])
def test_a_head_of_another_package_acts_the_same(head):
    space = OBSERVATION_SPACES["Box"]
    policy = built(architecture("mlp")[0], space, {"qf": head})
    for seed in range(2):
        assert type(equal_in_both(lambda rng: greedy(policy), space)) is NumpyGreedyActor
        torch.manual_seed(seed)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.normal_()


@pytest.mark.parametrize("head", [MeanHead, composed])
def test_it_stays_in_torch_with_hidden_layers_that_do(head):
    made, _ = architecture("mlp", act_fun="elu")
    assert in_numpy(greedy(built(made, OBSERVATION_SPACES["Box"], {"qf": head}))) is None


@pytest.mark.parametrize("kind", [Mean, DoubledInNumpyToo])
def test_a_numpy_forward_equals_its_forward(kind):
    torch.manual_seed(0)
    module, x = kind(4), torch.randn(6, 4)
    found = forward_of(module)(x.numpy())
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_subclass_with_another_forward_needs_a_numpy_forward_of_its_own():
    with pytest.raises(StaysInTorch, match=r"module Doubled, which has no numpy_forward\(\)"):
        forward_of(Doubled(4))
