"""The critic against a batched one, its small initial outputs, and the weights of its penalty."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rlk_ddpg.network import Critic, hidden_weights, with_small_output
from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp
from rlk_off_policy.critics import Critics
from rlk_off_policy.heads import DeterministicHead


def trunk(role, *, extra=0, n_copies=1):
    config = MlpConfig(layers=[5, 4], layer_norm=n_copies == 1 and role == "normed")
    return Mlp(config).trunk(role, 3, extra=extra, n_copies=n_copies)


def test_the_hidden_layers_of_the_critic_see_the_action_too():
    torch.manual_seed(0)
    critic, features, action = Critic(trunk, 2), torch.randn(6, 3), torch.randn(6, 2)
    hidden = critic.hidden(features, action)
    assert hidden.shape == (6, 4)
    assert torch.equal(critic.out(hidden)[:, 0], critic(features, action))


def test_it_equals_a_single_one_of_the_batched_critics():
    torch.manual_seed(0)
    critics, critic = Critics(trunk, 2, n_critics=1), Critic(trunk, 2)
    with torch.no_grad():
        critic.out.weight.copy_(critics.weight[0].T)
        critic.out.bias.copy_(critics.bias[0].fill_(0.5))
    critic.trunk.load_state_dict(critics.trunk.state_dict())
    features, action = torch.randn(6, 3), torch.randn(6, 2)
    found = critics(features, action)
    assert found.shape == (1, 6)
    assert torch.allclose(found[0], critic(features, action), atol=1e-6)


@pytest.mark.parametrize("head", [Critic, DeterministicHead])
def test_a_small_output_layer_begins_near_zero_and_not_at_it(head):
    torch.manual_seed(0)
    made = with_small_output(head(trunk, 30))
    for parameter in (made.out.weight, made.out.bias):
        assert 0.0 < parameter.abs().max() <= 0.003
    if head is DeterministicHead:
        assert made.out.weight.abs().max() > 0.0024


def test_a_penalty_leaves_out_biases_layer_norm_the_output_and_other_heads():
    policy = nn.Module()
    policy.qf = Critic(lambda _, **more: trunk("normed", **more), 2)
    policy.pi = DeterministicHead(trunk, 2)
    found = hidden_weights(policy, ("qf",))
    assert sorted(parameter.shape for parameter in found) == [(5, 4), (5, 5)]
    norms = [name for name, one in policy.qf.trunk.named_parameters() if one.ndim == 1]
    assert len(norms) > 2, "there is layer norm, besides the biases"
