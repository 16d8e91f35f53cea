from __future__ import annotations

import pytest
import torch
from torch import nn

from rlk_natural_gradient.fisher import FisherProduct


def categorical(p, q):
    log_p, log_q = torch.log_softmax(p, -1), torch.log_softmax(q, -1)
    return (log_p.exp() * (log_p - log_q)).sum(-1)


def gaussian(p, q):
    (m1, l1), (m2, l2) = p.chunk(2, -1), q.chunk(2, -1)
    spread = ((2 * l1).exp() + (m1 - m2).square()) * (-2 * l2).exp()
    return (l2 - l1 + 0.5 * spread - 0.5).sum(-1)


def test_a_product_by_hand():
    """Two actions with logits [w x, 0] and w = 0: F is the mean of x^2 p (1 - p) = x^2 / 4."""
    w = nn.Parameter(torch.zeros(1))
    x = torch.tensor([[1.0], [3.0]])
    logits = torch.cat([x * w, torch.zeros(2, 1)], 1)
    product = FisherProduct(logits, [w], categorical)
    assert product(torch.tensor([2.0])).tolist() == pytest.approx([2.0 * (1 + 9) / 2 / 4])


@pytest.fixture
def net():
    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 4), nn.ReLU())
    return made.append(nn.Linear(4, 4)).double()


@pytest.mark.parametrize("kl", [categorical, gaussian])
def test_products_equal_those_with_the_hessian_of_the_mean_divergence(net, kl):
    """By brute force: every second derivative of the divergence by the parameters."""
    x = torch.randn(7, 3, dtype=torch.float64)
    parameters = list(net.parameters())
    product = FisherProduct(net(x), parameters, kl)
    new = net(x)
    divergence = kl(new.detach(), new).mean()
    gradient = torch.autograd.grad(divergence, parameters, create_graph=True)
    flat = torch.cat([part.reshape(-1) for part in gradient])
    rows = []
    for number in flat:
        parts = torch.autograd.grad(number, parameters, retain_graph=True, allow_unused=True)
        parts = [torch.zeros_like(p) if g is None else g
                 for g, p in zip(parts, parameters, strict=True)]  # fmt: skip
        rows.append(torch.cat([part.reshape(-1) for part in parts]))
    hessian = torch.stack(rows)
    for vector in torch.eye(len(flat), dtype=torch.float64)[::3]:
        assert torch.allclose(product(vector), hessian @ vector, atol=1e-10)


def test_parameters_that_the_distribution_does_not_use_get_zeros_in_their_place(net):
    unused = [nn.Parameter(torch.ones(2, dtype=torch.float64)) for _ in range(2)]
    x = torch.randn(7, 3, dtype=torch.float64)
    alone = FisherProduct(net(x), list(net.parameters()), gaussian)
    among = FisherProduct(net(x), [unused[0], *net.parameters(), unused[1]], gaussian)
    size = sum(parameter.numel() for parameter in net.parameters())
    vector = torch.randn(size + 4, dtype=torch.float64)
    found = among(vector)
    assert found[:2].tolist() == found[-2:].tolist() == [0.0, 0.0]
    assert torch.allclose(found[2:-2], alone(vector[2:-2]))


def test_a_spread_that_is_one_parameter_for_all_states_is_part_of_it():
    """Mean 0 and log_std l for two transitions: F for l is 2, whatever l is."""
    log_std = nn.Parameter(torch.tensor([0.7]))
    distribution = torch.cat([torch.zeros(2, 1), log_std.expand(2, 1)], 1)
    product = FisherProduct(distribution, [log_std], gaussian)
    assert product(torch.tensor([3.0])).tolist() == pytest.approx([6.0])
