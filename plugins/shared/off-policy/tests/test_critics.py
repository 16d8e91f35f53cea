"""Batched critics against critics of their own, and what their loss trains."""

from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp
from rlk_off_policy.critics import Critics, critic_prefixes
from rlk_off_policy.heads import DeterministicHead


def trunk(role, *, extra=0, n_copies=1):
    return Mlp(MlpConfig(layers=[5, 4])).trunk(role, 3, extra=extra, n_copies=n_copies)


def test_batched_critics_equal_two_of_their_own_fed_with_observation_and_action():
    torch.manual_seed(0)
    critic = Critics(trunk, 2)
    with torch.no_grad():
        critic.bias.copy_(tensor([[0.5], [-0.5]]))
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    found = critic(features, action)
    assert found.shape == (2, 6)
    for copy in range(2):
        x = torch.cat([features, action], 1)
        for weight, bias in zip(critic.trunk.weights, critic.trunk.biases, strict=True):
            x = torch.tanh(x @ weight[copy] + bias[copy])
        expected = x @ critic.weight[copy, 0] + critic.bias[copy]
        assert torch.allclose(found[copy], expected, atol=1e-6)


@pytest.mark.parametrize("n_critics", [1, 2])
def test_the_hidden_layers_of_critics_see_the_action_too(n_critics):
    torch.manual_seed(0)
    several = Critics(trunk, 2, n_critics)
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    hidden = several.hidden(features, action)
    assert hidden.shape == (n_critics, 6, 4)
    expected = (hidden * several.weight).sum(-1) + several.bias
    assert torch.equal(several(features, action), expected)


def test_the_hidden_layers_of_a_deterministic_policy_come_before_its_output():
    torch.manual_seed(0)
    head, features = DeterministicHead(trunk, 2), torch.randn(6, 3)
    assert torch.equal(torch.tanh(head.out(head.hidden(features))), head(features))


def test_batched_critics_may_begin_as_pytorchs_layers_do():
    torch.manual_seed(0)
    critic = Critics(lambda *_, **__: Mlp(MlpConfig(layers=[400])).trunk("qf", 3, n_copies=9), 2, 9)
    assert not critic.bias.any()
    critic.initialise_uniform()
    for values in (critic.weight, critic.bias):
        assert 0.03 < values.abs().max().item() <= 1 / 20
    assert critic.weight.var().item() == pytest.approx((1 / 20) ** 2 / 3, rel=0.1)


def test_batched_critics_begin_as_different_functions():
    torch.manual_seed(0)
    found = Critics(trunk, 2)(torch.randn(6, 3), torch.randn(6, 2))
    assert not torch.allclose(found[0], found[1], atol=1e-2)


def test_critics_may_have_no_hidden_layers():
    torch.manual_seed(0)
    critic = Critics(lambda role, **k: Mlp(MlpConfig(layers=[])).trunk(role, 3, **k), 1)
    x = torch.randn(4, 3), torch.randn(4, 1)
    expected = torch.cat(x, 1) @ critic.weight[:, 0].T + critic.bias[:, 0]
    assert torch.allclose(critic(*x), expected.T, atol=1e-6)


def test_more_critics_than_two_are_evaluated_in_one_call():
    torch.manual_seed(0)
    found = Critics(trunk, 2, n_critics=5)(torch.randn(6, 3), torch.randn(6, 2))
    assert found.shape == (5, 6)
    assert len({round(value, 5) for value in found[:, 0].tolist()}) == 5


def test_the_first_critics_can_be_evaluated_alone():
    torch.manual_seed(0)
    critic = Critics(trunk, 2, n_critics=3)
    with torch.no_grad():
        critic.bias.copy_(tensor([[0.5], [-0.5], [2.0]]))
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    for n in (1, 2, 3):
        found = critic(features, action, n_critics=n)
        assert found.shape == (n, 6)
        assert torch.allclose(found, critic(features, action)[:n], atol=1e-6)


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("n_critics", [1, 2, 3])
def test_critics_may_give_as_many_numbers_each_as_they_are_told(n_critics, n_outputs):
    torch.manual_seed(0)
    critic = Critics(trunk, 2, n_critics, n_outputs)
    with torch.no_grad():
        critic.bias.normal_()
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    found = critic(features, action)
    assert found.shape == (n_critics, 6, n_outputs)
    hidden = critic.trunk(torch.cat([features, action], 1)).reshape(n_critics, 6, 4)
    for copy in range(n_critics):
        expected = hidden[copy] @ critic.weight[copy].T + critic.bias[copy]
        assert torch.allclose(found[copy], expected, atol=1e-6)
    for n in range(1, n_critics + 1):
        assert torch.allclose(critic(features, action, n), found[:n], atol=1e-6)


def test_outputs_begin_orthogonal_or_as_pytorchs_layers_do():
    def wide(*_, **keywords):
        return Mlp(MlpConfig(layers=[400])).trunk("qf", 3, **keywords)

    torch.manual_seed(0)
    critic = Critics(wide, 2, n_critics=3, n_outputs=5)
    for weight in critic.weight.detach():
        assert torch.allclose(weight @ weight.T, torch.eye(5), atol=1e-5)
    critic.initialise_uniform()
    for values in (critic.weight, critic.bias):
        assert 0.03 < values.abs().max().item() <= 1 / 20


def test_a_single_critic_has_an_axis_of_its_own():
    torch.manual_seed(0)
    critic = Critics(trunk, 2, n_critics=1)
    with torch.no_grad():
        critic.bias.fill_(0.5)
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    found = critic(features, action)
    assert found.shape == (1, 6)
    expected = critic.trunk(torch.cat([features, action], 1)) @ critic.weight[0, 0] + 0.5
    assert torch.allclose(found[0], expected, atol=1e-6)
    assert torch.equal(critic(features, action, 1), found)


class Parameters:
    def __init__(self, *names):
        self.names = list(names)


def test_an_encoder_that_heads_share_is_trained_by_the_critics():
    assert critic_prefixes(Parameters("pi.out.weight", "qf.weight")) == ("qf",)
    assert critic_prefixes(Parameters("shared.0.weight", "qf.weight")) == ("shared", "qf")
