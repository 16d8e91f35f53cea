"""K-FAC through the optimiser seam, before there is an ACKTR: Martens and Grosse 2015.

arXiv 1503.05671, section 3: for every layer A = E[a a^T] of what goes in and G = E[g g^T] of the
gradients of a sampled log-likelihood by the output; the step is A^-1 D G^-1 for its gradient D.
What this shows of the seam: `differentiable()` gives one graph for the loss and a likelihood,
layers are found by the parameters of the group (policies apply cached weights without a call of a
module, so hooks of modules would see nothing), and `mean` averages each of the three over ranks.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from rlk.optimise import Group, OneProcess, Optimiser
from rlk.records import Loss
from rlk_flat_parameters import FlatParameters
from rlk_networks import Head, Linear, Policy


class Products(TorchFunctionMode):
    """Notes every product with a weight of the group: (weight, bias, transposed, in, out)."""

    def __init__(self, parameters):
        super().__init__()
        self.wanted, self.found = {id(p) for p in parameters}, []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func is torch.addmm and id(args[2]) in self.wanted:
            bias, x, weight = args
            self.found.append((weight, bias, False, x, out))
        elif func is F.linear and id(args[1]) in self.wanted:
            x, weight, bias = args
            self.found.append((weight, bias, True, x, out))
        return out


class Kfac:
    """The step of the paper; a parameter that is in no product takes a plain gradient step."""

    def __init__(self, group, damping=0.0):
        self.group, self.damping, self.factors = group, damping, []

    def step(self, objective):
        parameters = self.group.parameters
        with Products(parameters) as products:
            loss = objective.differentiable()
        grads = torch.autograd.grad(loss.value, parameters, retain_graph=True)
        grads = {id(p): objective.mean(s) for p, s in zip(parameters, grads, strict=True)}
        outputs = [out for *_, out in products.found]
        sampled = torch.autograd.grad(loss.outputs["likelihood"], outputs)
        self.factors = []
        with torch.no_grad():
            for (weight, bias, transposed, x, _), g in zip(products.found, sampled, strict=True):
                size = len(x)
                g = size * g  # the gradient of one row's log-likelihood, not of their mean
                a = torch.cat([x, torch.ones(size, 1)], 1)
                in_, out = objective.mean(a.T @ a / size), objective.mean(g.T @ g / size)
                self.factors.append((in_, out))
                own, offset = grads.pop(id(weight)), grads.pop(id(bias))
                grad = torch.cat([own.T if transposed else own, offset[None]])
                move = self.solved(in_, out, grad)
                weight -= self.group.learning_rate * (move[:-1].T if transposed else move[:-1])
                bias -= self.group.learning_rate * move[-1]
            for parameter in parameters:
                if id(parameter) in grads:
                    parameter -= self.group.learning_rate * grads[id(parameter)]
        return loss

    def solved(self, in_, out, gradient):
        """A^-1 D G^-1."""
        in_ = in_ + self.damping * torch.eye(len(in_))
        out = out + self.damping * torch.eye(len(out))
        return torch.linalg.solve(out, torch.linalg.solve(in_, gradient).T).T

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


class TwoRanks:
    """The other rank has nothing but zeros."""

    rank, size = 0, 2

    def mean(self, tensor):
        return tensor / 2

    def agree(self, value):
        return value


def optimiser_of(module, communicator=None, damping=0.0):
    views, memory = FlatParameters(module).select(None)
    group = Group("policy", views, memory, torch.tensor(0.1))
    optimise, step = Optimiser(communicator or OneProcess()), Kfac(group, damping)
    optimise.add(group, step)
    return optimise, step


# ---- two layers, two rows, numbers by hand -------------------------------------------------------


class Two(nn.Module):
    """y = w2 (w1 x + b1) + b2 with numbers to be followed by hand; each layer in another way."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Linear(1, 1), nn.Linear(1, 1)
        with torch.no_grad():
            for parameter, value in zip(self.parameters(), (2.0, -1.0, 0.5, 0.0), strict=True):
                parameter.fill_(value)

    def forward(self, x):
        return self.second(self.first(x))


def by_hand(net):
    """x is 1 and 3, so h is 1 and 5, and y is 0.5 and 2.5."""
    y = net(torch.tensor([[1.0], [3.0]]))
    value = (y * torch.tensor([[1.0], [3.0]])).mean()
    # A Gaussian of variance 1 and samples one above and two below y: gradients 1 and -2.
    sampled = y.detach() + torch.tensor([[1.0], [-2.0]])
    fisher = (-0.5 * (y - sampled).square()).mean()
    return Loss(value, distribution=y, outputs={"likelihood": fisher})


def test_the_factors_are_those_computed_by_hand():
    net = Two()
    optimise, step = optimiser_of(net, damping=1.0)
    optimise("policy", by_hand, net)
    (a1, g1), (a2, g2) = step.factors
    # Rows (x, 1): (1, 1) and (3, 1). Slopes by h are 0.5 times those by y: 0.5 and -1.
    assert a1.tolist() == [[(1 + 9) / 2, (1 + 3) / 2], [(1 + 3) / 2, 1.0]]
    assert g1.tolist() == [[(0.25 + 1) / 2]]
    # Rows (h, 1): (1, 1) and (5, 1). Slopes by y are 1 and -2.
    assert a2.tolist() == [[(1 + 25) / 2, (1 + 5) / 2], [(1 + 5) / 2, 1.0]]
    assert g2.tolist() == [[(1 + 4) / 2]]


def test_the_step_is_the_one_computed_by_hand():
    net = Two()
    optimise, _ = optimiser_of(net)
    found = optimise("policy", by_hand, net)
    assert found.value.item() == pytest.approx((0.5 + 7.5) / 2)
    # Gradients: w2 (1 * 1 + 3 * 5) / 2 = 8, b2 (1 + 3) / 2 = 2, w1 0.5 (1 + 9) / 2 = 2.5, b1 1.
    # First layer: [[5, 2], [2, 1]] has the inverse [[1, -2], [-2, 5]]: (2.5 - 2, -5 + 5) / 0.625.
    assert net.first.weight.item() == pytest.approx(2.0 - 0.1 * 0.5 / 0.625)
    assert net.first.bias.item() == pytest.approx(-1.0, abs=1e-5)
    # Second: [[13, 3], [3, 1]] has the inverse [[1, -3], [-3, 13]] / 4: (2, 2) / 4 / 2.5.
    assert net.second.weight.item() == pytest.approx(0.5 - 0.1 * 0.5 / 2.5, abs=1e-5)
    assert net.second.bias.item() == pytest.approx(0.0 - 0.1 * 0.5 / 2.5, abs=1e-5)


def test_factors_and_gradients_are_means_over_ranks():
    """Where the other rank has zeros all three are halved, so the step is twice as long."""
    net = Two()
    optimise, step = optimiser_of(net, TwoRanks())
    optimise("policy", by_hand, net)
    assert step.factors[0][1].item() == pytest.approx(0.625 / 2)
    assert net.first.weight.item() == pytest.approx(2.0 - 0.1 * 2 * 0.5 / 0.625, abs=1e-5)
    assert net.second.weight.item() == pytest.approx(0.5 - 0.1 * 2 * 0.5 / 2.5, abs=1e-5)


# ---- a policy with shared layers, two heads and a spread of its own ------------------------------


class Spread(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mean, self.log_std = Linear(features, 2), nn.Parameter(torch.zeros(2))

    def forward(self, features):
        mean = self.mean(features)
        return torch.cat([mean, self.log_std.expand_as(mean)], -1)


def policy():
    torch.manual_seed(0)
    space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
    heads = {
        "pi": Head(nn.Sequential(Linear(4, 5), nn.Tanh()), Spread(5)),
        "vf": Head(nn.Sequential(nn.Linear(4, 5), nn.Tanh()), Linear(5, 1)),
    }
    return Policy(space, nn.Sequential(Linear(3, 4), nn.Tanh()), heads)


def loss_of(net, x, noise):
    """An actor-critic's: the Fisher term is of a sampled action and a sampled value."""
    parameters, value = net(x, "pi", "vf")
    mean, log_std = parameters.chunk(2, -1)
    action = (mean + log_std.exp() * noise[:, :2]).detach()
    log_prob = -(0.5 * ((action - mean) / log_std.exp()).square() + log_std).sum(1)
    sampled = (value + noise[:, 2:]).detach()
    fisher = log_prob.mean() - 0.5 * (value - sampled).square().mean()
    total = (log_prob * noise[:, 0]).mean() + value.square().mean()
    return Loss(total, distribution=parameters, outputs={"likelihood": fisher})


def test_every_layer_of_a_policy_is_found_and_moves_by_its_kronecker_factored_fisher():
    """By brute force: factors of rows one by one, and the Kronecker product in full."""
    generator = torch.Generator().manual_seed(1)
    x, noise = torch.randn(2, 32, 3, generator=generator)
    net, other = policy(), policy()
    optimise, step = optimiser_of(net, damping=0.1)
    optimise("policy", loss_of, net, x, noise)
    assert len(step.factors) == 5
    gradients = dict(
        zip(
            [name for name, _ in other.named_parameters()],
            torch.autograd.grad(loss_of(other, x, noise).value, list(other.parameters())),
            strict=True,
        )
    )
    moved = dict(net.named_parameters())
    spread = other.pi.out.log_std - 0.1 * gradients["pi.out.log_std"]
    assert torch.allclose(moved["pi.out.log_std"], spread)
    for name in ("shared.0", "pi.trunk.0", "pi.out.mean", "vf.trunk.0", "vf.out"):
        transposed = name == "vf.trunk.0"
        weight = gradients[f"{name}.weight"]
        grad = torch.cat([weight.T if transposed else weight, gradients[f"{name}.bias"][None]])
        rows_in, rows_out = rows_of(other, name, x, noise)
        a = torch.stack([torch.outer(r, r) for r in rows_in]).mean(0) + 0.1 * torch.eye(len(grad))
        g = torch.stack([torch.outer(r, r) for r in rows_out]).mean(0)
        g = g + 0.1 * torch.eye(len(g))
        move = torch.linalg.solve(torch.kron(a, g), grad.reshape(-1)).view_as(grad)
        layer = dict(other.named_modules())[name]
        before = torch.cat([layer.weight.T if transposed else layer.weight, layer.bias[None]])
        weight = moved[f"{name}.weight"]
        after = torch.cat([weight.T if transposed else weight, moved[f"{name}.bias"][None]])
        assert torch.allclose(after, before - 0.1 * move, atol=1e-5), name


def rows_of(net, name, x, noise):
    """What goes into a layer and the gradient by what comes out, for every row by itself."""
    layer, seen = dict(net.named_modules())[name], {}
    handle = layer.register_forward_hook(lambda _, given, out: seen.update(a=given[0], out=out))
    rows_in, rows_out = [], []
    for i in range(len(x)):
        loss = loss_of(net, x[i : i + 1], noise[i : i + 1])
        (g,) = torch.autograd.grad(loss.outputs["likelihood"], seen["out"])
        rows_in.append(torch.cat([seen["a"][0].detach(), torch.ones(1)]))
        rows_out.append(g[0])
    handle.remove()
    return rows_in, rows_out
